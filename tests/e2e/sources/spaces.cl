// OpenCL C: vectors, halves, every address space, pointers through them.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "trace.h"

typedef struct { int a; float4 v; uchar4 c; half h; } Cell;

constant int weights[4] = {2, 3, 5, 7};
global int counter = 17;

__attribute__((noinline)) int through(global long *trace, int gid, Cell *cell, local int *tile, constant int *w, global int *g)
{
    int sum = cell->a + tile[1] + w[2] + *g;
    TRACE(30, sum);
    TRACE(31, cell->a);
    TRACEF(32, cell->v.w);
    TRACE(33, tile[1]);
    TRACE(34, w[gid & 3]);
    TRACE(35, *g);
    TRACE(36, cell->c.s2);
    return sum;
}

kernel void spaces(global long *trace, global int *in, float factor, local int *scratch)
{
    local int tile[GROUP_SIZE];
    local float lone;
    int item = ITEM, gid = GROUP * GROUP_SIZE + item;
    float4 v = (float4)(gid, factor, gid * factor, -1.0f);
    int3 triple = (int3)(gid, gid + 1, gid * gid);
    uchar4 c = (uchar4)(gid, 2, gid * 3, 4);
    double2 dd = (double2)(gid / 3.0, factor);
    half h = (half)(gid * 0.5f);
    half4 hv = (half4)(h, h + 1, 2, h * 2);
    long l = (long)gid * -1000000007L;
    char8 many = (char8)(gid, 1, 2, 3, 4, 5, 6, -gid);
    Cell cells[2] = {{gid, v, c, h}, {-gid, v + 1, c, h}};
    Cell *cell = &cells[gid & 1];
    tile[item] = gid + 5;
    scratch[item] = gid - 5;
    if (item == 0)
        lone = factor + 1;
    SYNC();
    local int *neighbour = tile + (item + 1) % GROUP_SIZE;
    int *any = gid & 1 ? (int *)neighbour : gid & 2 ? (int *)(in + gid) : &cells[0].a;
    TRACEF(0, v.x);
    TRACEF(1, v.s2);
    TRACE(2, triple.z);
    TRACE(3, c.z);
    TRACEF(4, dd.x);
    TRACEF(5, h);
    TRACEF(6, hv.y);
    TRACE(7, l);
    TRACE(8, many.s7);
    TRACE(9, cells[1].a);
    TRACEF(10, cells[1].v.y);
    TRACE(11, cell->a);
    TRACE(12, cell->c.x);
    TRACE(13, tile[item]);
    TRACEF(14, lone);
    TRACE(15, *neighbour);
    TRACE(16, *any);
    TRACE(17, scratch[item]);
    TRACE(18, weights[item & 3]);
    TRACE(19, counter);
    TRACE(20, in[gid]);
    TRACEF(21, factor);
    if (gid % 5 == 2) {
        int r = through(trace, gid, cell, tile, weights, &counter);
        TRACE(22, r + gid);
    }
    TRACE(23, gid * 3);
}
