// Shapes of control flow that compilers lower in ways of their own: the program's jumps, calls, masks and exits.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define NOINLINE __attribute__((noinline))

static inline __device__ int lane_id() { return __builtin_amdgcn_workitem_id_x(); }
static NOINLINE __device__ int mix(int x) { return (x * 29 + 11) % 97; }

extern "C" __global__ void jumps(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0, n = 0;
again:
    if (++n > 12)
        goto done;
    if (x & 1) {
        x = mix(x);
        if (x % 5 == 0)
            goto small;
        r += x;
        goto again;
    }
    x /= 2;
    if (x > 4)
        goto again;
small:
    r += 100;
    if (x % 3 == 1) {
        x += 5;
        if (n < 6)
            goto again;
    }
done:
    out[i] = r + n;
}

extern "C" __global__ void into_loop(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0, k = 0;
    if (x & 2)
        goto inside;
    for (k = 0; k < (x & 7); ++k) {
        r += in[(k + x) & 63];
inside:
        r ^= k + 1;
        if (r % 7 == 2)
            break;
    }
    out[i] = r;
}

extern "C" __global__ void calls_in_loop_tests(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    do {
        r += x & 3;
        if (r > 30)
            continue;
        x = mix(x + r);
    } while (mix(x) > 20 && r < 50);
    while (mix(r) % 4 && (x & 1 || mix(x) > 50))
        r = mix(r + 1);
    out[i] = r;
}

extern "C" __global__ void nested_switches(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    for (int k = 0; k < 6; ++k) {
        switch ((x + k) % 9) {
        case 0: r += 1; continue;
        case 1: case 2: r += 2; break;
        case 3:
            switch (x & 3) {
            case 0: r += 7; break;
            case 1: goto out;
            default: r -= 1;
            }
            break;
        case 4: r += mix(r);  // falls through
        case 5: r ^= 5; break;
        case 7: if (r & 1) break; r += 9; break;
        default: x += 3;
        }
        r += k;
    }
out:
    out[i] = r;
}

static NOINLINE __device__ int ladder(int x)
{
    if (x < 8)
        return 1;
    if (x < 16) {
        if (x & 1)
            return 2;
        x += 3;
    } else if (x < 32) {
        for (int k = 0; k < x; ++k) {
            if (k * k > x)
                return k;
            if ((k ^ x) == 3)
                break;
        }
        if (x & 4)
            return mix(x);
    } else {
        do {
            x -= 7;
            if (x == 19)
                return 4;
        } while (x > 20);
    }
    return x;
}

extern "C" __global__ void many_returns(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    int r = ladder(x);
    if (x & 1)
        r += ladder(r + x);
    out[i] = r;
}

static NOINLINE __device__ int hanoi(int n, int from)
{
    if (n <= 0)
        return from;
    int r = hanoi(n - 1, from + 1);
    if (from & 1)
        r += hanoi(n - 2, from);
    return r + mix(n);
}

extern "C" __global__ void recursion(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    if (x % 3)
        out[i] = hanoi(x & 3, x);
    else
        out[i] = 1;
}

static NOINLINE __device__ int apply(int (*f)(int), int x) { return x > 20 ? f(x - 1) + 1 : f(x); }
static NOINLINE __device__ int chain(int x) { return x & 4 ? mix(x + 1) : ladder(x); }

extern "C" __global__ void function_pointers(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    int (*f)(int) = x & 1 ? mix : (x & 2 ? ladder : chain);
    int r = apply(f, x);
    for (int k = 0; k < (x & 3); ++k) {
        r += f(r & 31);
        f = r & 1 ? mix : chain;
    }
    out[i] = r;
}

extern "C" __global__ void conditions(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    if (!(x & 1) && (x > 40 || (in[x & 63] & 1 && mix(x) > 9)) && x != 44)
        r = 1;
    r += (x > 12 && mix(x) & 1) ? mix(r) : (x < 5 || in[(x + 7) & 63] > 33 ? 3 : mix(4));
    while (r < 60 && (x & 8 || r & 1) && !(r > 40 && x & 16))
        r += (x & 7) + 3;
    out[i] = r;
}

extern "C" __global__ void leaves_early(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    if (x % 4 == 3) {
        out[i] = 5;
        __builtin_amdgcn_endpgm();
    }
    int r = 0;
    for (int k = 0; k < (x & 15); ++k) {
        if (x % 5 == 1 && k > 3)
            return;
        r += in[(k + i) & 63];
        if (r > 200) {
            out[i] = -1;
            if (x & 1)
                return;
            break;
        }
    }
    out[i] = r;
}

extern "C" __global__ void uniform_and_not(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    int n = __builtin_amdgcn_readfirstlane(in[3] & 3) + 2;
    for (int a = 0; a < n; ++a) {
        for (int b = 0; b < (x & 3); ++b) {
            if (a == 1 && b == (x & 1))
                continue;
            r += in[(a * 8 + b) & 63];
            if (r % 13 == 4)
                goto next;
        }
        if (n & 1)
            r += 1;
next:
        if (__builtin_amdgcn_ballot_w64(r > 150))
            r -= 2;
    }
    out[i] = r;
}

extern "C" __global__ void while_any(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    // the wave goes on until nobody wants to, lane by lane: what compilers make of divergent indices
    bool wants = x & 1;
    while (__builtin_amdgcn_ballot_w64(wants)) {
        int first = __builtin_amdgcn_readfirstlane(x);
        if (wants && first <= x) {
            r += first;
            wants = r < 20 && first > 0;
        } else if (!wants) {
            r ^= 1;
        } else {
            x = first;
        }
    }
    out[i] = r;
}

typedef int int4v __attribute__((ext_vector_type(4)));

extern "C" __global__ void masks_by_hand(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = x;
    if (x & 1)
        r += __builtin_amdgcn_ds_bpermute(4 * (i ^ 1), x);
    if (x > 9) {
        r += __builtin_amdgcn_update_dpp(0, x, 0x101, 0xf, 0xf, false);
        if (x & 4)
            r += __builtin_amdgcn_ds_swizzle(x, 0x041f);
    }
    long bits = __builtin_amdgcn_uicmp(x, 30, 34);
    if (bits >> i & 1)
        r -= 4;
    out[i] = r;
}

extern "C" __global__ void divides(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    long a = 1000003L * x + 7, b = (x & 15) - 4, r = 0;
    if (b)
        r = a / b;
    else if (x & 16)
        r = a % 37;
    for (long k = b; k > 0; k -= 2)
        r += (unsigned long)a % (unsigned long)(k + 1);
    out[i] = (int)r;
}

extern "C" __global__ void big_arrays(const int *in, int *out)
{
    int i = lane_id(), x = in[i];
    int heap[32], n = 0;
    for (int k = 0; k < 12 && n < 30; ++k) {
        int v = in[(x + k * 7) & 63];
        if (v & 1) {
            heap[n] = v;
            for (int at = n++; at > 0 && heap[at] > heap[(at - 1) / 2]; at = (at - 1) / 2) {
                int t = heap[at];
                heap[at] = heap[(at - 1) / 2];
                heap[(at - 1) / 2] = t;
            }
        } else if (n > 2) {
            heap[0] = heap[--n];
        }
    }
    int r = n;
    while (n > 0)
        r = r * 3 + heap[--n];
    out[i] = r;
}

// A machine whose states lead anywhere: loops with many entries.
extern "C" __global__ void state_machine(const int *in, int *out)
{
    int i = lane_id(), x = in[i], n = 0;
l0:
    n++;
    if (n > 15) goto end;
    x = (x * 7 + 12) & 1023;
    if (x & 64) goto l1;
l1:
    n++;
    if (n > 16) goto end;
    x = (x * 5 + 23) & 1023;
    if (x & 16) goto l1;
    x ^= in[(x + n) & 63];
    goto l2;
l2:
    n++;
    if (n > 17) goto end;
    x = (x * 7 + 11) & 1023;
    if (x & 1) goto l3;
l3:
    n++;
    if (n > 18) goto end;
    x = (x * 3 + 22) & 1023;
    if (x & 32) goto l1;
    if (x & 32) goto l1;
    if (x & 32) goto l0;
l4:
    n++;
    if (n > 19) goto end;
    x = (x * 5 + 37) & 1023;
    if (x & 16) goto l3;
l5:
    n++;
    if (n > 20) goto end;
    x = (x * 5 + 22) & 1023;
    if (x & 8) goto l0;
    if (x & 4) goto l2;
end:
    out[i] = x + n;
}
