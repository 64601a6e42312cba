// What a reader of the text must not take for a value that never changes, and names that mean several things.
#include "builtin.hpp"
#define BUMP(value) ((value) += 3)
#define SCALE 6
#ifdef DOUBLED
#define STEP (SCALE * 2)
#else
#define STEP (SCALE + 1)
#endif

using Alias = int &;
typedef int &OldAlias;

static __device__ void add_to(int &sum, int value) { sum += value; }
static __device__ int shared_name(int value) { return value - 7; }
static __device__ int pick(int value) { return value * 2; }
static __device__ int pick(unsigned value) { return value + 100; }
template <int N> static __device__ __inline__ int times(int value)
{
    const int result = value * N + STEP;
    return result;
}
struct Pair {
    int first, second;
    __device__ int sum() const { return first + second; }
};

extern "C" __global__ void changes(int *out, const int *in, int count, long wide)
{
    const unsigned gid = group() * ITEMS_PER_GROUP + item();
    int a = in[gid];
    int b = a * 2, c = a + 1, d = a - 5, e = a ^ 3, f = a, g = a | 1;
    int kept = shared_name(a) + b;
    out[gid] = kept;
    BUMP(b);
    add_to(c, a);
    int *pointer = &d;
    *pointer += count;
    auto more = [&](int value) { e += value; };
    more(b);
    int &reference = f;
    reference -= c;
    (g) = g * 3;
    int h = a - 1, k = a + 7, m = a ^ 5, n = a | 6;
    Alias alias = h;
    OldAlias old{k};
    REFERENCE given = m;
    alias += count;
    old -= count;
    given *= count;
    out[512 + gid] = h + k + m * n;
    out[128 + gid] = b + c * 3;
    out[256 + gid] = d ^ e;
    out[384 + gid] = f - g + kept;
}

extern "C" __global__ void names(int *out, const int *in, int count, long wide)
{
    const unsigned gid = group() * ITEMS_PER_GROUP + item();
    int value = in[gid];
    const int picked = pick(value);
    const int other = pick((unsigned)value);
    out[gid] = picked + other;
    if (value & 2) {
        int count = value * 7;
        const int inner = count + 1;
        out[128 + gid] = inner;
    } else {
        int inner = value - 9;
        out[128 + gid] = inner * count;
    }
    const int scaled = times<3>(value), again = times<5>(scaled);
    Pair pair = {scaled, again};
    const int total = pair.sum();
    switch (value & 3) {
    case 0: {
        int chosen = total + STEP;
        out[256 + gid] = chosen;
        break;
    }
    case 1:
        out[256 + gid] = again;
        break;
    default:
        out[256 + gid] = total - SCALE;
    }
    out[384 + gid] = scaled - other;
}

extern "C" __global__ void constants(int *out, const int *in, int count, long wide)
{
    enum Kind { small = 3, large = 40 };
    const int tile = TILE, tiles = (count + TILE - 1) / TILE;
    const unsigned gid = group() * ITEMS_PER_GROUP + item();
    const unsigned long key = 0x9e3779b97f4a7c15ul * gid;
    const int base = tile * 2 + SCALE, octal = 017 + tile;
    constexpr int mask = (1 << 5) - 1;
    const Kind kind = gid & 1 ? small : large;
    const float factor = 1.5f, product = factor * gid;
    int bits = (int)(key >> 40) & mask;
    out[gid] = bits + tiles;
    out[128 + gid] = base * kind + octal;
    if (tiles > bits)
        out[256 + gid] = (int)product;
    out[384 + gid] = kind + (int)key;
}

extern "C" __global__ void tails(int *out, const int *in, int count, long wide)
{
    const unsigned gid = group() * ITEMS_PER_GROUP + item();
    const int first = in[gid];
    int level = 0;
again:
    const int under = first >> level;
    out[128 * level + gid] = under;
    if (++level < (first & 3) + 1)
        goto again;
    float ratio = (float)first / count;
    float copy = ratio;
    const double wider = copy;
    out[512 + gid] = (int)(ratio * 8.0f) + (int)wider;
    long distance = &out[gid] - &out[first & 63];
    out[640 + gid] = (int)distance;
}
