// Loops that lanes leave in many ways: after each of them lanes wait in many masks, some set in earlier iterations.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define NOINLINE __attribute__((noinline))

static inline __device__ int lane_id() { return __builtin_amdgcn_workitem_id_x(); }
static NOINLINE __device__ int mix(int x) { return (x * 37 + 5) % 89; }

extern "C" __global__ void do_while_mixed(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0, k = 0;
    do {
        k++;
        if ((x + k) % 7 == 3)
            continue;
        r += in[(x + k) & 63];
        if (r > 120)
            break;
        if (r % 17 == 5) {
            out[i] = -r;
            return;
        }
        if (r & 1)
            x += 2;
    } while (k < (x & 15));
    out[i] = r + k;
}

extern "C" __global__ void goto_nested(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    for (int a = 0; a < (x & 1) + 2; ++a) {
        for (int b = 0; b < 3; ++b) {
            r += in[(a * 5 + b + x) & 63];
            if (r % 23 == 7)
                goto found;
            if (r % 29 == 3)
                goto outer;
            if (r % 11 == 1)
                break;
        }
        r += 3;
outer:
        r ^= a;
    }
    r = -r;
found:
    out[i] = r;
}

extern "C" __global__ void switch_in_loop(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    for (int k = 0; k < 8; ++k) {
        switch ((x + k * 3) % 7) {
        case 0:
            r += 4;
            if (r > 40)
                return;
            break;
        case 1:
            r += in[(x + k) & 63];  // falls through
        case 2:
            r ^= 3;
            if (x & 2 && r & 4)
                break;
            r += 2;  // falls through
        case 3:
            r -= 1;
            continue;
        case 4:
            if (r % 5 == 2)
                goto out;
            x += 1;
            break;
        default:
            r += k;
        }
        r += 1;
    }
out:
    out[i] = r;
}

extern "C" __global__ void twelve_cases(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 1;
    while (r < 400) {
        switch (x % 12) {
        case 0: r += 3; break;
        case 1: r *= 2; break;
        case 2: r += in[r & 63]; break;
        case 3: r = mix(r) + 300; break;
        case 4: r += x; x += 1; continue;
        case 5: r += 17; break;
        case 6: if (r & 1) return; r += 9; break;
        case 7: for (int k = 0; k < (r & 3); ++k) r += k; break;
        case 8: r += 31; break;
        case 9: goto end;
        case 10: r ^= 64; break;
        case 11: r += 70;
        }
        x += 5;
        r += 2;
    }
end:
    out[i] = r;
}

extern "C" __global__ void computed_exit(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0, state = x % 4, steps = 0;
    while (state != 5 && steps++ < 20) {
        int next = 5;
        if (state == 0) {
            r += 2;
            next = r & 1 ? 3 : 1;
        } else if (state == 1) {
            r += in[r & 63];
            next = r > 50 ? 2 : 0;
            if (r == 77)
                return;
        } else if (state == 2) {
            if (x & 8)
                next = 3;
            r -= 30;
        } else {
            next = mix(r) % 6;
            if (next == 4)
                continue;
        }
        state = next;
    }
    out[i] = r + steps;
}

extern "C" __global__ void conditions_with_calls(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    for (int k = 0; k < 5 && (mix(x + k) > 20 || (x & 1 && mix(k) < 60)); ++k) {
        if (x > 30 && mix(x) % 3 && !(mix(r) & 1))
            r += 1;
        else if (mix(r + k) > 44 || x < 10)
            r += mix(x) & 7;
    }
    out[i] = r;
}

static NOINLINE __device__ int parse(const int *in, int &at, int depth)
{
    int r = 0;
    while (at < 60) {
        int t = in[at++] % 6;
        if (t == 0) return r;
        if (t == 1 && depth < 3) { r += parse(in, at, depth + 1); continue; }
        if (t == 2) { if (r > 30) break; r *= 2; }
        else if (t == 3) { do { r++; if (r % 7 == 0) return -r; } while (r & 3); }
        else r += t;
    }
    return r + depth;
}

extern "C" __global__ void descent(const int *in, int *out)
{
    int i = lane_id(), at = in[i] & 31;
    int r = parse(in, at, 0);
    if (r < 0)
        at = 0, r = parse(in, at, 2);
    out[i] = r * 64 + at;
}

// Conditions of the whole wave, and a loop that is left by a number that lanes keep while others call a function.
extern "C" __global__ void whole_wave(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0;
    for (int k = 0; k < 5; ++k) {
        switch (__builtin_amdgcn_readfirstlane(in[k]) % 3) {
        case 0: if (x & 1) r += mix(k); break;
        case 1:
            if (x > 30) {
                r += 2;
                if (__builtin_amdgcn_ballot_w64(r > 9))
                    goto end;
            }
            break;
        default: r ^= x;
        }
        r += 3;
    }
end:
    out[i] = r;
}

extern "C" __global__ void others_call(const int *in, int *out)
{
    int i = lane_id(), x = in[i], r = 0, n = in[0] & 7;
    for (int k = 0; k < n + 3; ++k) {
        int limit = in[k];
        if (limit > 40)
            continue;
        if (limit & 1) {
            if (x > limit) {
                r += mix(k);
            } else {
                r++;
                if (x == k)
                    break;
            }
        } else {
            r += x;
        }
    }
    out[i] = r;
}
