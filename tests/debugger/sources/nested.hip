#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __noinline__ __attribute__((noinline))

__device__ __noinline__ int inner(int n) {
    return n + 1; // in the nested one
}

__device__ int hidden = 5;

__device__ __noinline__ int outer(int depth) {
    int hidden = 10 * depth;
    if (depth == 0)
        return inner(hidden);
    return outer(depth - 1) + hidden;
}

extern "C" __global__ void kernel(int *out) { out[__builtin_amdgcn_workitem_id_x()] = outer(2); }
