// Frames of every shape: aligned, of a size known only when they are made, large, with saved vector registers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define NOINLINE __attribute__((noinline))

static NOINLINE __device__ int leaf(int x) { return x * 3 + 1; }

static NOINLINE __device__ void touch(int *p, int n)
{
    for (int k = 0; k < n; ++k)
        p[k] = leaf(p[k] + k) & 255;
}

static NOINLINE __device__ int aligned(int x)
{
    alignas(128) int box[8];
    for (int k = 0; k < 8; ++k)
        box[k] = x + k;
    touch(box, x & 3);
    return box[x & 7];
}

static NOINLINE __device__ int grown(int x)
{
    int n = __builtin_amdgcn_readfirstlane(x & 15) + 1;
    int *room = (int *)__builtin_alloca(n * sizeof(int));
    for (int k = 0; k < n; ++k)
        room[k] = x ^ k;
    touch(room, n & 3);
    return room[n - 1];
}

static NOINLINE __device__ int large(int x)
{
    volatile int room[2000];
    room[0] = x;
    room[1999] = leaf(x);
    if (x & 1)
        room[1000] = aligned(x & 15);
    return room[1999] + room[0];
}

static NOINLINE __device__ int many_live(const int *in, int x)
{
    int a[40];
#pragma unroll
    for (int k = 0; k < 40; ++k)
        a[k] = in[(x + k) & 63];
    int r = leaf(x);
    if (x & 2)
        r += leaf(r);
#pragma unroll
    for (int k = 0; k < 40; ++k)
        r = r * 3 + a[k];
    return r;
}

struct Six { int v[6]; };

static NOINLINE __device__ Six by_value(Six s, int x)
{
    for (int k = 0; k < 6; ++k)
        s.v[k] += x > k ? leaf(k) : x;
    return s;
}

static NOINLINE __device__ int mutual_b(const int *in, int n);
static NOINLINE __device__ int mutual_a(const int *in, int n)
{
    if (n <= 0)
        return in[0];
    return mutual_b(in, n - 1) + (n & 1 ? grown(n) : 2);
}
static NOINLINE __device__ int mutual_b(const int *in, int n)
{
    if (n <= 0)
        return in[1];
    if (n & 2)
        return mutual_a(in, n - 1);
    return mutual_a(in, n - 2) * 3;
}

extern "C" __global__ void frames(const int *in, int *out)
{
    int i = __builtin_amdgcn_workitem_id_x(), x = in[i];
    int r = aligned(x);
    r += grown(x);
    if (x & 1)
        r += large(x);
    if (x & 2)
        r += many_live(in, x);
    Six s = {{x, x + 1, 2, 3, 4, 5}};
    s = by_value(s, x & 7);
    r += s.v[x % 6] + mutual_a(in, x & 7);
    out[i] = r;
}

// Compilers rely on what a function leaves alone that calls another one in its place, too.
static NOINLINE __device__ int last(int x) { return (x ^ 61) * 9 % 131; }
static NOINLINE __device__ int in_its_place(int x, int y) { return last(x & 1 ? x + y : y); }
static NOINLINE __device__ int in_a_loop(int x, int count)
{
    int sum = 0;
    for (int k = 0; k < count; ++k)
        sum += in_its_place(x, k + sum);
    return sum;
}

extern "C" __global__ void tail_calls(const int *in, int *out)
{
    int i = __builtin_amdgcn_workitem_id_x(), x = in[i];
    int sum = in_a_loop(x, 3 + (x & 7));
    if (sum & 1)
        sum += in_a_loop(sum, 5);
    out[i] = sum;
}
