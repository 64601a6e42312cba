// What the engine's tests debug: divergence, a call, a structure, LDS, a global.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
struct Pair {
    float a;
    int b[3];
    struct { short s; unsigned f : 3; unsigned g : 5; } in;
};
enum Color { RED, GREEN = 5, BLUE };
__device__ int gcount = 7;

__device__ __attribute__((noinline)) float scale(float v, int k, Pair *p)
{
    float r = v * k;                                     // line 15
    p->a += r;
    return r + p->b[1];
}

extern "C" __global__ void kern(float *x, float *y, int n, Color c)
{
    __shared__ float tile[64];
    __shared__ int lone;
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();      // line 24
    Pair p;
    p.a = 1.5f, p.b[0] = i, p.b[1] = 2, p.b[2] = 3, p.in.s = -4, p.in.f = 5, p.in.g = 9;
    tile[i & 63] = x[i];
    lone = 3;
    bool odd = i & 1;
    float acc = 0;
    if (odd) {                                           // line 31
        acc = scale(x[i], i, &p);
        acc += 1;
    } else {
        acc = x[i] - 2;                                  // line 35
    }
    for (int j = 0; j < (i & 3); ++j)                    // line 37
        acc += tile[j] + gcount;
    if (i < n)
        y[i] = acc;                                      // line 40
}

extern "C" __global__ void wild(float *x)
{
    int i = __builtin_amdgcn_workitem_id_x();
    x[i * 1000] = 1;                                     // line 46
}
