#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

// In both translation units: a breakpoint on it is in two places.
static __device__ __attribute__((noinline)) int
scaled(int x)
{
    return x * 3;
}
