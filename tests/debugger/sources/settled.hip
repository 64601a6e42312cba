#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
__device__ void store(int *out, int value) {
    *out = value;
}
__device__ int load(int *out) {
    return *out;
}
__global__ void kern(int *out) {
    int id = __builtin_amdgcn_workitem_id_x();
    int last = 0;
    if (id & 1) {
        store(out + id, 1);
    }
    else {
        store(out + id, 2);
    }
    for (int i = 0; i < 1; i++) {
        store(out + id, i);
    }
    for (int i = 0; i < 1; i++)
        store(out + id, i);
    last = load(out + id);
    if (id > 40)
        store(out + id, last);
    else
        store(out, last);
    store(out, 4);
    out[id] = last;
}
