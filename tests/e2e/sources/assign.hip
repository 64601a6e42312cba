// Variables for the tests to change: the line that marks the place, then a store of each.
#include "trace.h"

struct Point { int x; short y; unsigned bits : 5; int rest : 27; };
typedef float float4 __attribute__((ext_vector_type(4)));
typedef _Float16 half;
__device__ int shared_by_all = 1000;

extern "C" __global__ void assign(LONG *trace, int *buffer, int uniform)
{
    __shared__ int tile[GROUP_SIZE];
    int item = ITEM, gid = GROUP * GROUP_SIZE + item;
    int i = gid;
    long long wide = gid;
    double d = gid;
    float f = gid;
    half h = (half)gid;
    bool b = false;
    char c = 'a';
    Point p = {gid, (short)gid, 3, -1};
    int a[2][3] = {{gid, 1, 2}, {3, 4, 5}};
    float4 v = {(float)gid, 1, 2, 3};
    int *q = &a[0][0];
    int &ref = a[1][1];
    tile[item] = gid;
    SYNC();
    if (gid % 4 != 3) {
        __asm__ volatile("s_nop 6" ::: "memory");        // line 28
        TRACE(0, i);
        TRACE(1, wide);
        TRACEF(2, d);
        TRACEF(3, f);
        TRACEF(4, h);
        TRACE(5, b);
        TRACE(6, c);
        TRACE(7, p.x);
        TRACE(8, p.y);
        TRACE(9, p.bits);
        TRACE(10, p.rest);
        TRACE(11, a[1][2]);
        TRACEF(12, v.z);
        TRACE(13, *q);
        TRACE(14, ref);
        TRACE(15, tile[item]);
        TRACE(16, buffer[gid]);
        TRACE(17, shared_by_all);
        TRACE(18, uniform);
    }
}

__device__ __noinline__ void hold(LONG *trace, int gid, int i, float f, long long wide, double d, Point p)
{
    __asm__ volatile("s_nop 6" : "+v"(i), "+v"(f), "+v"(wide), "+v"(d)::"memory");
    TRACE(0, i);
    TRACEF(1, f);
    TRACE(2, wide);
    TRACEF(3, d);
    TRACE(4, p.x);
}

// Optimised, the parameters of hold are in vector registers and k in a scalar one where the instruction marks it.
extern "C" __global__ void registers(LONG *trace, int *buffer, int uniform)
{
    int item = ITEM, gid = GROUP * GROUP_SIZE + item;
    hold(trace, gid, buffer[gid] * 3, buffer[gid] * 0.5f, (long long)gid << 20, gid * 0.25, Point{gid + 1, 2, 3, 4});
    int total = 0;
    for (int k = 0; k < uniform; ++k) {
        __asm__ volatile("s_nop 6" :: "s"(k) : "memory");
        total += k;
        TRACE(5, total);
    }
}
