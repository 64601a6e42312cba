// LDS that a called function and a namespace declare; there is one kernel, so all of it is that one's.
#include "trace.h"

static __shared__ int common[5];

__device__ __noinline__ int helper(LONG *trace, int gid)
{
    __shared__ int inner[8];
    inner[gid & 7] = gid & 7;
    TRACE(0, inner[gid & 7]);
    TRACE(1, common[2]);
    return inner[gid & 7];
}

extern "C" __global__ void device_lds(LONG *trace, int n)
{
    __shared__ int mine[16];
    int gid = GROUP * GROUP_SIZE + ITEM;
    mine[gid & 15] = (gid & 15) + n;
    common[gid % 5] = gid % 5 + 9;
    SYNC();
    int got = helper(trace, gid);
    TRACE(2, mine[3] + got);
    TRACE(3, common[gid % 5]);
}
