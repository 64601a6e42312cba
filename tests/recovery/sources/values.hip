// Copies, conversions, arithmetic of positions, call arguments and early ends.
#include "builtin.hpp"

extern "C" __global__ void copies(int *out, const int *in, int count, long wide)
{
    const unsigned gid = group() * ITEMS_PER_GROUP + item();
    int a = in[gid];
    int b = a;
    long c = b;
    unsigned char d = (unsigned char)c;
    signed char e = d;
    short f = (short)(a * 1000);
    bool g = a & 4;
    unsigned h = -b;
    long i = wide + a;
    const int *j = in + d;
    out[gid] = a + count;
    out[128 + gid] = b - e + f;
    out[256 + gid] = g ? d : h;
    out[384 + gid] = (int)(i >> 3);
    out[512 + gid] = *j + f;
}

extern "C" __global__ void positions(int *out, const int *in, int count, long wide)
{
    const unsigned x = item(), y = group();
    unsigned flat = y * ITEMS_PER_GROUP + x;
    unsigned lane = x & 31, part = x >> 5;
    int row = flat / 8, column = flat % 8;
    int mirrored = 79 - (int)flat;
    bool edge = row == 0 || column == 0 || column == 7;
    unsigned mixed = (lane << 3 | part) ^ 0x55u;
    if ((int)flat >= count)
        return;
    int there = in[mirrored];
    out[flat] = there + (edge ? 1 : -1);
    out[128 + mixed] = row * column;
    if (edge)
        out[512 + flat] = mirrored % 9;
    out[640 + flat] = there / 3 + part;
}

static __device__ int shared_name(int value) { return value * 2 + 1; }

static __device__ __noinline__ int weigh(int value, int weight, unsigned where)
{
    const int scaled = value * weight;
    if (where & 1)
        return scaled - value;
    int shifted = scaled >> (where & 3);
    return shifted + weight;
}

static __device__ __noinline__ int twice(int value, int weight)
{
    const int first = weigh(value, weight, 2);
    const int second = weigh(first, weight + 1, 3);
    return first ^ second ^ value;
}

extern "C" __global__ void called(int *out, const int *in, int count, long wide)
{
    const unsigned gid = group() * ITEMS_PER_GROUP + item();
    const int x = in[gid];
    int weight = (int)gid % 5 + 2;
    int one = twice(x, weight);
    out[gid] = one;
    if (x > count / 2) {
        int other = weigh(one, weight, gid);
        out[128 + gid] = other - x;
    }
    out[256 + gid] = weight * 2 + x;
}

extern "C" __global__ void loops(int *out, const int *in, int count, long wide)
{
    const unsigned gid = group() * ITEMS_PER_GROUP + item();
    const int turns = in[gid] & 7;
    int sum = 0, biggest = in[0];
    for (int n = 0; n < turns; ++n) {
        const int here = in[n + gid & 127];
        int square = here * here;
        sum += square + n;
        if (square > 5000)
            break;
        biggest = biggest < here ? here : biggest;
    }
    const int half = shared_name(turns);
    for (int n = 0; n < 4; ++n)
        out[128 * n + gid] = half >> n;
    int left = sum % 200;
    while (left > 100)
        left -= 37;
    do
        left += 3;
    while (left & 1);
    out[512 + gid] = left + biggest * turns;
}
