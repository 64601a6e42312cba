// Null pointers into address spaces where 0 is a place, objects at 0, and LDS that not all kernels use.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define LOCAL __attribute__((address_space(3)))
#define PRIVATE __attribute__((address_space(5)))

struct Counter {
    static const int step = 4;
    int n;
    __device__ int peek() const { return n + step; }
};

__shared__ int tile[64];
__shared__ float other[32];

__device__ __attribute__((noinline)) void bump(int *p, char *text, int k) {
    p[k & 7] += 10;
    text[k & 3] = 'z';
}

__global__ void first(int *out) {
    Counter counter;
    int own[8];
    char text[4] = {'a', 'b', 'c', 0};
    PRIVATE int *np = (PRIVATE int *)nullptr;
    LOCAL int *nl = (LOCAL int *)nullptr;
    int *generic = nullptr;
    int i = __builtin_amdgcn_workitem_id_x();
    counter.n = i;
    for (int k = 0; k < 8; k++)
        own[k] = k;
    tile[i] = i + 100;
    LOCAL int *mine = (LOCAL int *)&tile[i];
    PRIVATE int *yours = i & 1 ? (PRIVATE int *)&own[0] : np;
    bump(own, text, i);
    out[i] = counter.peek() + (np == nullptr) + (nl == nullptr) + (generic == nullptr) + *mine + own[i & 7] + (yours == np);
}

__global__ void second(int *out) {
    int i = __builtin_amdgcn_workitem_id_x();
    other[i & 31] = i;
    out[i] = (int)other[31 - (i & 31)];
}
