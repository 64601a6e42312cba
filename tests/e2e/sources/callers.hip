// Values that live across calls in registers which the called functions save: seen from the frames above.
#include "trace.h"

struct Pair { int a; float b; };

__device__ __noinline__ int leaf(LONG *trace, int gid, int n)
{
    __asm__ volatile("v_mov_b32 v40, 0\n v_mov_b32 v41, 0\n v_mov_b32 v42, 0\n v_mov_b32 v56, 0\n"
                     "s_mov_b32 s34, 0\n s_mov_b32 s35, 0\n s_mov_b32 s36, 0\n s_mov_b32 s37, 0\n s_nop 6"
                     ::: "v40", "v41", "v42", "v56", "s34", "s35", "s36", "s37", "memory");
    TRACE(0, n);
    return n * 2 + gid;
}

__device__ __noinline__ int middle(LONG *trace, int gid, int x, float y, Pair p, int rounds)
{
    int kept = x * 7 + gid;
    float scaled = y * 0.5f;
    int sum = 0;
    for (int k = 0; k < rounds; ++k)
        sum += leaf(trace, gid, kept + k) + (int)scaled + p.a;
    TRACE(1, kept);
    TRACEF(2, scaled);
    return sum + kept + (int)scaled + (int)p.b;
}

static __device__ inline int inlined(LONG *trace, int gid, int base)
{
    int local = base * 11;
    int got = leaf(trace, gid, local);
    return got + local;
}

extern "C" __global__ void callers(LONG *trace, int *in, int n)
{
    int item = ITEM, gid = GROUP * GROUP_SIZE + item;
    int mine = in[gid] * 3;
    float other = mine * 0.25f;
    int uniform = n * 5;
    Pair p = {mine + 1, other + 2};
    int total = 0;
    if (gid % 3 != 1)
        total = middle(trace, gid, mine, other, p, 2);
    total += inlined(trace, gid, mine + uniform);
    TRACE(3, mine);
    TRACEF(4, other);
    TRACE(5, uniform);
    TRACE(6, total);
}
