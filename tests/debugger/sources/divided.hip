#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
struct pair {
    float first;
    double second;
};
__device__ float ratio(float a, float b) {
    float r = a / b;
    return r;
}
__global__ void kern(float *out, double *wide, const float *in, float *copy, int n) {
    __shared__ float tile[64];
    int id = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    float value = in[id];
    tile[id & 63] = ratio(value, in[n - 1 - id]);
    __builtin_amdgcn_s_barrier();
    struct pair both;
    both.first = tile[63 - (id & 63)];
    both.second = (double)id * 0.5;
    out[id] = both.first;
    wide[id] = both.second;
    copy[id] = in[id];
}
