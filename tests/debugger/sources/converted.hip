// At -O1 clang computes these variables from the work-item's number with conversions between types.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

struct Scale {
    int factor;
    __device__ __attribute__((noinline)) int of(int x) const
    {
        int y = x * 2;
        return y + x;
    }
};

extern "C" __global__ void converted(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_x() * 64 + in[0];
    unsigned char byte = i * 37;
    short half = i * 1000 - 20000;
    bool odd = i & 1;
    int v = in[i];
    Scale scale = {v};
    v += scale.of(i);
    out[i] = v + byte + half + odd;
}
