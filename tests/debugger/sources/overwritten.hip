// Variables whose registers the optimised code overwrites before, or while, clang describes them by these registers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

static __device__ inline int repeated(int count, int seed, int z, int i)
{
    int total = seed;
    for (int w = 0; w < count; ++w) {
        int q = total * 3 + w;
        total = q & 1 ? q - z : q + i;
    }
    return total;
}

extern "C" __global__ void moved(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int z = in[i] & 0xffff;
    int a = z * 2 + i, b = in[i + 64];
    int sum = z + a + b;
    int result = repeated((z & 3) + 2, sum, z, i);
    int low = result & 0xff, high = sum & 0xff;
    if (low > high) {
        int t = low;
        low = high;
        high = t;
    }
    out[i] = (high - low) ^ result;
    out[i + 64] = (int)((float)z * 0.5f + (float)low * 1.25f);
}

extern "C" __global__ void crossed(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int a = in[i];
    int b = in[i + 1];
    int c = a + b;
    int d = c * 4;
    int e = (a >> 4) * b;
    out[i] = d;
    int f = e - d;
    int g = (f & 0xffff) * 3;
    out[i + 64] = g + (short)g;
    int k = a ^ f;
    if (k & 8) {
        k = -k;
        a = k + 1;
    }
    int n = (a - k) * in[i + 2];
    out[i + 128] = n + (char)(n >> 5);
    out[i + 192] = (int)(n * 0.125 + (float)(a - k) * 1.5f);
    out[i + 256] = e + (c > 1000);
}

extern "C" __global__ void ended(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int x = in[i];
    if (x & 1) {
        out[i + 128] = x;
        return;
    }
    int tail = x / 3 + in[64];
    int square = tail * tail;
    out[i] = tail;
    out[i + 64] = square;
}

extern "C" __global__ void folded(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int x = in[i] & 0xff;
    int r = 0;
    switch (x & 3) {
    case 0:
        r = x * 3;
        break;
    case 1:
        r = x * x;
    case 2: {
        int more = r + 17;
        r = more ^ x;
        break;
    }
    default:
        r = in[x & 63];
    }
    out[i] = r;
}
