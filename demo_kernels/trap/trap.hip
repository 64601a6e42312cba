// An assertion that fails on one lane: the kernel traps.
#include "../device.h"

static __device__ __noinline__ void check(bool condition)
{
    if (!condition)
        __builtin_trap();
}

extern "C" __global__ void trap(const int *input, int *output)
{
    int i = global_x();
    int value = input[i];
    check(value < 100);
    output[i] = value * 2;
}
