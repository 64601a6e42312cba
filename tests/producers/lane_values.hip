// Variables that an optimising compiler describes by what it has in one vector register, computed for each lane.
#define __global__ __attribute__((global))
__global__ void values(int *out, const int *in) {
    int i = __builtin_amdgcn_workitem_id_x();
    int k = in[i];
    int bit = 1 << (k & 31);
    int twice = k * 2 + 5;
    int negative = -k;
    int half = k >> 1;
    int third = k / 3;
    int rest = k % 7;
    unsigned hash = (unsigned)k * 0x9e3779b9u;
    unsigned top = hash >> 27;
    long wide = (long)k * 3;
    short low = (short)k;
    bool more = k > 7;
    bool same = k == -10;
    asm volatile("; %0" ::"v"(k));
    out[i] = k;
    out[i + 64] = k + 1;
}
