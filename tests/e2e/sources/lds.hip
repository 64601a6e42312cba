// LDS variables of awkward sizes: where they are is known to the code only.
#include "trace.h"

struct Odd { char c[5]; };

extern "C" __global__ void lds(LONG *trace, int n)
{
    __shared__ float rows[3][21];
    __shared__ char bytes[13];
    __shared__ short shorts[7];
    __shared__ double wide;
    __shared__ int lone;
    __shared__ bool flag;
    __shared__ Odd odd[3];
    int gid = GROUP * GROUP_SIZE + ITEM;
    if (ITEM < 63)
        rows[ITEM / 21][ITEM % 21] = gid;
    if (ITEM < 13)
        bytes[ITEM] = gid;
    if (ITEM < 7)
        shorts[ITEM] = -gid;
    if (ITEM < 3)
        odd[ITEM].c[4] = gid + 1;
    if (ITEM == n)
        wide = gid * 0.5, lone = gid, flag = gid & 1;
    SYNC();
    {
        __shared__ int inner[9];
        inner[gid % 9] = gid % 9 + n;
        SYNC();
        TRACE(9, inner[4]);
    }
    TRACEF(0, rows[2][20]);
    TRACE(1, bytes[12]);
    TRACE(2, shorts[6]);
    TRACEF(3, wide);
    TRACE(4, lone);
    TRACE(5, flag);
    TRACE(6, odd[1].c[4]);
    TRACEF(7, rows[n % 3][n]);
    TRACE(8, lone + wide);
    if (gid % 4 == 1)
        TRACE(10, bytes[n]);
}

namespace deep {
__global__ void mangled(LONG *trace, int n)
{
    __shared__ int beta[GROUP_SIZE];
    __shared__ int alpha[GROUP_SIZE];
    __shared__ int gamma[GROUP_SIZE];
    int item = ITEM, gid = GROUP * GROUP_SIZE + item;
    alpha[item] = gid, beta[item] = gid * 2, gamma[item] = gid * 3;
    SYNC();
    TRACE(0, alpha[5]);
    TRACE(1, beta[n]);
    TRACE(2, gamma[7]);
}
}
