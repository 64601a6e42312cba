// One variable of every kind of type, different in each lane.
#include "trace.h"

enum Colour { RED, GREEN = 5, BLUE = -3 };
enum class Big : unsigned long long { LOW = 1, HIGH = 0xffffffffffull };
struct Inner { short s; unsigned f : 3; int g : 5; bool on; };
struct Outer { char tag; Inner in[2]; double d; const int *where; };
union Either { float f; unsigned u; unsigned char bytes[4]; };
typedef float float4 __attribute__((ext_vector_type(4)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef _Float16 half;

namespace geo {
struct Shape {
    int sides;
    __device__ int corner(LONG *trace, int gid, int k) const;
};
__device__ __noinline__ int Shape::corner(LONG *trace, int gid, int k) const
{
    TRACE(50, sides);
    TRACE(51, this->sides + k);
    return sides * 10 + k;
}
template <typename T, int N> struct Pack : Shape {
    T items[N];
    static constexpr int count = N;
};
__device__ int scale = 3;
}

__constant__ int table[4] = {11, 22, 33, 44};
__device__ float ramp[4] = {0.5f, 1.5f, 2.5f, 3.5f};

extern "C" __global__ void types(LONG *trace, const int *in, float factor)
{
    __shared__ int tile[GROUP_SIZE];
    __shared__ Inner boxes[GROUP_SIZE];
    int item = ITEM, gid = GROUP * GROUP_SIZE + item;
    bool b = gid % 3 == 0;
    char c = (char)(gid - 80);
    unsigned char uc = (unsigned char)(gid * 7);
    short s = (short)(gid * -301);
    unsigned short us = (unsigned short)(gid * 500);
    long long ll = (long long)gid << 33 | 5;
    unsigned long long ull = ~0ull - gid;
    half h = (half)(gid * 0.25f);
    __bf16 bf = (__bf16)(float)(gid * 2);
    float f = factor * gid;
    double d = gid / 7.0;
    Colour colour = gid & 1 ? GREEN : BLUE;
    Big big = gid & 2 ? Big::HIGH : Big::LOW;
    Outer o = {(char)gid, {{(short)-gid, (unsigned)gid & 7, gid % 31 - 15, b}, {(short)(gid + 1), 1, -1, !b}}, d * 2, in + gid};
    Either e;
    e.f = f + 1;
    float4 v = {f, f + 1, f + 2, f + 3};
    short2 v2 = {s, (short)(s + 1)};
    int grid[2][3] = {{gid, 1, 2}, {3, 4, gid * gid}};
    int (*row)[3] = &grid[1];
    int *p = &grid[0][1];
    int **pp = &p;
    int &ref = grid[1][1];
    Outer *po = &o;
    geo::Pack<short, 3> pack;
    pack.sides = gid + 3, pack.items[0] = 1, pack.items[1] = s, pack.items[2] = 9;
    void *null = nullptr;
    tile[item] = gid * 2;
    boxes[item] = o.in[0];
    SYNC();
    int *shared = &tile[item];
    float *global = &ramp[gid & 3];
    ref = gid + 40;
    auto twice = [&, gid](int k) {
        TRACE(52, k + s);
        TRACEF(53, d * k);
        return k * 2 + s;
    };
    TRACE(0, b);
    TRACE(1, c);
    TRACE(2, uc);
    TRACE(3, s);
    TRACE(4, us);
    TRACE(5, ll);
    TRACE(6, ull);
    TRACEF(7, h);
    TRACEF(8, bf);
    TRACEF(9, f);
    TRACEF(10, d);
    TRACE(11, colour);
    TRACE(12, big);
    TRACE(13, o.tag);
    TRACE(14, o.in[0].s);
    TRACE(15, o.in[0].f);
    TRACE(16, o.in[0].g);
    TRACE(17, o.in[1].on);
    TRACEF(18, o.d);
    TRACE(19, *o.where);
    TRACEF(20, e.f);
    TRACE(21, e.u);
    TRACE(22, e.bytes[2]);
    TRACEF(23, v.x);
    TRACEF(24, v[3]);
    TRACE(25, v2[1]);
    TRACE(26, grid[1][2]);
    TRACE(27, (*row)[1]);
    TRACE(28, *p);
    TRACE(29, p[-1]);
    TRACE(30, **pp);
    TRACE(31, ref);
    TRACE(32, po->in[1].s);
    TRACE(33, (po->in + 0)->g);
    TRACE(34, pack.sides);
    TRACE(35, pack.items[1]);
    TRACE(36, tile[item]);
    TRACE(37, *shared);
    TRACE(38, shared[item ? -1 : 0]);
    TRACEF(39, *global);
    TRACE(40, table[gid & 3]);
    TRACEF(41, ramp[gid & 3]);
    TRACE(42, geo::scale);
    TRACE(43, boxes[item].g);
    TRACE(44, boxes[(item + 1) % 80].s);
    TRACE(45, null == 0);
    TRACE(46, in[gid]);
    TRACEF(47, factor * 2 + d);
    static __device__ const int primes[3] = {2, 3, 5};
    TRACE(48, primes[gid % 3]);
    int last = twice(gid) + pack.corner(trace, gid, gid);
    TRACE(49, last);
}
