#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
__device__ int g;
__device__ int acc_of(int n) {
    int acc = 0;
    for (int i = 0; i < n; i++)
        acc += i;
    return acc;
}
__global__ void kern(int *out, int n) {
    __shared__ int tile[64];
    int id = __builtin_amdgcn_workitem_id_x();
    int r = 0;
    g = 3;
    r = acc_of(n);
    tile[id] = r + id;
    __builtin_amdgcn_s_barrier();
    g = r;
    g = r;
    r = r + tile[63 - id];
    out[id] = r;
}
