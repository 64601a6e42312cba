// Lanes part ways in every form that source code has for it.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define NOINLINE __attribute__((noinline))

static inline __device__ int lane_id() { return __builtin_amdgcn_workitem_id_x(); }

extern "C" __global__ void nested_ifs(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    if (x & 1) {
        r += 3;
        if (x & 2) {
            r *= x;
            if (x & 4)
                r -= out[i];
            else
                r ^= 77;
        } else if (x > 20) {
            r = in[(i + 1) & 63];
        }
    } else if (x % 3 == 0) {
        r = x / 3;
    } else {
        r = out[i] + 1;
        if (x > 9)
            r *= 2;
    }
    out[i] = r;
}

extern "C" __global__ void short_circuit(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    int r = 0;
    if ((x & 1 && in[(x + 1) & 63] > 5) || (x & 4 && in[(x + 2) & 63] < 30))
        r = x * 3;
    if (x > 10 && x < 50 && (x % 7 == 1 || x % 5 == 2))
        r += in[(r + i) & 63];
    r += x > 30 ? in[x & 63] : (x > 20 ? in[(x + 9) & 63] : 4);
    out[i] = r;
}

extern "C" __global__ void loops(const int *in, int *out)
{
    int i = lane_id(), x = in[i], total = 0;
    for (int k = 0; k < x; ++k) {
        if (((k ^ x) & 7) == 3)
            continue;
        if (total > 400)
            break;
        for (int m = k; m > 0; m /= 2) {
            total += in[m & 63];
            if (total % 11 == 0)
                break;
        }
        total += k;
    }
    do {
        total -= 3;
        if (total == 17)
            goto out_of_it;
    } while (total % 5);
    total *= 2;
out_of_it:
    out[i] = total;
}

extern "C" __global__ void early_return(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    if (x == 5)
        return;
    out[i] = x;
    if (x & 1) {
        for (int k = 0; k < 8; ++k) {
            if ((x + k) % 6 == 0)
                return;
            out[i] += in[(k + i) & 63];
        }
    }
    out[i] *= 2;
}

extern "C" __global__ void switches(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = x;
    switch (x & 7) {
    case 0: r += 1; break;
    case 1: r = in[(i + 3) & 63]; break;
    case 2: r *= 5;  // falls through
    case 3: r -= 7; break;
    case 5:
        for (int k = 0; k < (x >> 3); ++k)
            r += in[k];
        break;
    case 6: out[i] = r; return;
    default: r = -r;
    }
    while (r > 3) {
        switch (r % 3) {
        case 0: r /= 2; continue;
        case 1: r -= 2; break;
        default: goto done;
        }
        r -= 1;
    }
done:
    out[i] = r;
}

static NOINLINE __device__ int collatz(int n)
{
    int steps = 0;
    while (n > 1) {
        if (n & 1)
            n = 3 * n + 1;
        else
            n /= 2;
        if (++steps > 40)
            return -1;
    }
    return steps;
}

static NOINLINE __device__ int tree(const int *in, int n)
{
    if (n <= 1)
        return 1;
    int left = n & 1 ? tree(in, n - 1) : 3;
    if (in[n & 63] > 30)
        left += tree(in, n - 3);
    return left + collatz(n);
}

extern "C" __global__ void calls_in_branches(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    if (x & 1)
        r = collatz(x);
    else if (x & 2)
        r = tree(in, x & 7);
    for (int k = 0; k < (x & 3); ++k)
        r += collatz(x + k);
    out[i] = r;
}

static NOINLINE __device__ int twice(int x) { return x > 4 ? 2 * x : x; }
static NOINLINE __device__ int halve(int x)
{
    while (x > 20)
        x /= 2;
    return x;
}
static NOINLINE __device__ int tail(int x)
{
    if (x & 8)
        x ^= 3;
    return halve(x + 1);
}

extern "C" __global__ void pointers(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    int (*table[4])(int) = {twice, halve, tail, collatz};
    int r = table[x & 3](x);
    if (x > 30)
        r += table[(x >> 1) & 1](r & 63);
    out[i] = r;
}

extern "C" __global__ void uniform_mixed(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    int limit = in[0];
    for (int k = 0; k < limit; ++k) {
        if (in[k] & 1) {
            if (x > k)
                r += in[(x + k) & 63];
        } else if (in[k] & 2) {
            if (x < k)
                break;
            r ^= k;
        }
        if (r > 1000)
            r -= 999;
    }
    if (limit > 3) {
        if (x & 1)
            r = -r;
    } else {
        if (x & 2)
            r = 7;
    }
    out[i] = r;
}

extern "C" __global__ void shared_and_atomics(const int *in, int *out)
{
    __shared__ int box[64];
    __shared__ int count;
    int i = lane_id(), x = in[i];
    if (i == 0)
        count = 0;
    box[i] = x;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    if (box[63 - i] > 20) {
        __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&out[63], x, __ATOMIC_RELAXED);
    }
    for (int step = 1; step < 64; step *= 2) {
        int other = i >= step ? box[i - step] : 0;
        __builtin_amdgcn_s_barrier();
        if (other & 1)
            box[i] += other;
        __builtin_amdgcn_s_barrier();
    }
    out[i] = box[i] + count;
}

extern "C" __global__ void pressure(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    int a[24];
#pragma unroll
    for (int k = 0; k < 24; ++k)
        a[k] = in[(x + k * 5) & 63];
#pragma unroll
    for (int k = 0; k < 24; ++k) {
        if (a[k] > 20) {
            a[k] -= in[(a[(k + 3) % 24]) & 63];
            if (a[(k + 1) % 24] & 1)
                a[(k + 2) % 24] ^= a[k];
        }
    }
    int r = 0;
    while (r < 50 && x > 0) {
#pragma unroll
        for (int k = 0; k < 24; ++k)
            if (a[k] & (x & 1 ? 1 : 2))
                r += a[k] & 7;
        --x;
    }
    for (int k = 0; k < 24; ++k)
        r += a[k];
    out[i] = r;
}

extern "C" __global__ void dynamic_stack(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    int buffer[16];
    for (int k = 0; k < 16; ++k)
        buffer[k] = in[(k + x) & 63];
    int r = 0;
    for (int k = x & 15; k > 0 && buffer[k] > 3; k = buffer[k] % (k + 1) & 15) {
        r += buffer[k];
        buffer[k] -= 4;
        if (r > 200)
            break;
    }
    if (r & 1)
        r += collatz(r & 31);
    out[i] = r + buffer[x & 15];
}

extern "C" __global__ void float_math(const int *in, int *out)
{
    int i = lane_id();
    float x = (float)in[i] / 7.0f, y = 0;
    for (int k = 0; k < 20; ++k) {
        y = y * y + x;
        if (y > 40.0f || y != y)
            break;
        if (__builtin_fabsf(y) < 0.5f)
            y += 1.0f / (x + 1.5f);
    }
    double z = y;
    while (z > 1.0)
        z = z / 1.7;
    out[i] = (int)(z * 1000.0) + (y > 3.0f ? 1 : 2);
}

extern "C" __global__ void wide_masks(const int *in, int *out)
{
    int i = lane_id();
    long x = in[i], r = 0;
    bool odd = x & 1, big = x > 30, both = odd && big;
    for (long k = 0; k < x / 4; ++k) {
        if (odd != ((k & 2) != 0))
            r += x / (k + 1);
        if (both && r > 100)
            break;
        both = both != (r % 3 == 0);
    }
    if (both)
        r = -r;
    if (big || both)
        r += 5;
    out[i] = (int)r;
}

extern "C" __global__ void traps_aside(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    if (x > 1000000)
        __builtin_trap();
    if (x & 1) {
        if (x < -5)
            __builtin_unreachable();
        out[i] = x / 3;
    } else {
        if (in[1] > 1000000)
            __builtin_trap();
        out[i] = x * 3;
    }
}

extern "C" __global__ void wave_ops(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    if (x & 1) {
        int first = __builtin_amdgcn_readfirstlane(x);
        r = first + x;
        if (first > 10)
            r += __builtin_amdgcn_mov_dpp(x, 0x111, 0xf, 0xf, true);
    }
    unsigned long mask = __builtin_amdgcn_ballot_w64(x > 20);
    if (mask >> i & 1)
        r += __builtin_popcountl(mask);
    while (r > 60)
        r -= __builtin_amdgcn_readfirstlane(r) / 2 + 1;
    out[i] = r;
}
