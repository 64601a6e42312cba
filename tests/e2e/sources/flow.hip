// Divergence of every shape, with a call in it: variables of active lanes, and who is active where.
#include "trace.h"

struct Pair { int low, high; };

__device__ __noinline__ int weigh(LONG *trace, int gid, Pair p, int depth)
{
    int here = p.low * 3 - p.high + depth;
    TRACE(40 + depth, here);
    if (depth < gid % 4) {
        Pair q = {p.high, here};
        here += weigh(trace, gid, q, depth + 1);
        TRACE(44 + depth, here + q.low);
    }
    return here;
}

static __device__ inline int clamp_to(LONG *trace, int gid, int value, int limit)
{
    int result = value;
    if (value > limit) {
        result = limit;
        TRACE(30, result + value);
    }
    return result;
}

extern "C" __global__ void flow(LONG *trace, const int *in, int count)
{
    int item = ITEM, gid = GROUP * GROUP_SIZE + item;
    int x = in[gid];
    if (gid >= count)
        return;
    TRACE(0, x);
    int acc = x;
    if (x & 1) {
        int odd = x * 5;
        if (x % 3 == 0) {
            int three = odd + 1000;
            TRACE(1, three + odd);
            acc += three;
        } else {
            acc -= odd;
            TRACE(2, acc);
        }
        TRACE(3, acc + odd);
    } else {
        int even = x / 2;
        TRACE(4, even);
        acc ^= even;
    }
    int steps = 0;
    for (int i = 0; i < 6; ++i) {
        int square = i * i + x;
        if (square % 5 == 4)
            continue;
        if (square > 60)
            break;
        steps += square;
        TRACE(5 + i, steps);
    }
    TRACE(12, steps);
    switch (gid % 6) {
    case 0:
        acc = 100;
        TRACE(13, acc + steps);
        break;
    case 1:
        acc += 7;
    case 2:
        acc *= 2;
        TRACE(14, acc);
        break;
    case 4: {
        long long wide = (long long)acc << 35;
        TRACE(15, wide);
        acc = (int)(wide >> 33);
        break;
    }
    default:
        TRACE(16, gid - acc);
    }
    int n = gid % 5;
    do {
        n = n * 2 + 1;
        TRACE(17, n);
    } while (n < 3);
    Pair p = {acc, gid};
    int w = 0;
    if (gid % 7 < 5) {
        w = weigh(trace, gid, p, 0);
        TRACE(19, w + p.low);
    }
    int k = clamp_to(trace, gid, acc, 300);
    TRACE(20, k);
    TRACE(21, w + acc);
    TRACE(22, k > 100 ? w : -w);
}
