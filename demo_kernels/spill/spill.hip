// More live values than the kernel may have registers: the compiler spills some to scratch.
#include "../device.h"

extern "C" __global__ __attribute__((amdgpu_num_vgpr(24))) void spill(const float *input, float *output)
{
    int i = global_x();
    float v[24];
    for (int k = 0; k < 24; ++k)
        v[k] = input[i * 24 + k];
#pragma unroll
    for (int round = 0; round < 3; ++round) {
#pragma unroll
        for (int k = 0; k < 24; ++k)
            v[k] = v[k] * 0.5f + v[(k + 7) % 24];
    }
#pragma unroll
    for (int k = 0; k < 24; ++k)
        output[i * 24 + k] = v[k];
}
