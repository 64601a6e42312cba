#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
__global__ void racy(int *sums, int *out, int fenced) {
    __shared__ int total;
    int id = __builtin_amdgcn_workitem_id_x();
    total = 0;
    __builtin_amdgcn_s_barrier();
    if (fenced) {
        __hip_atomic_fetch_add(&total, 1, __ATOMIC_RELAXED, 3);
    } else if ((id & 31) == 0) {
        volatile int *place = &total;
        int before = *place;
        for (int i = 0; i < (id >> 5); i++)
            out[id] += i;
        *place = before + 1;
    }
    __builtin_amdgcn_s_barrier();
    if (id == 0)
        sums[3] = total;
}
