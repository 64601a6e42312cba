// Functions whose calls of themselves clang turns into passes of loops, which accumulate their results.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

static __device__ __attribute__((noinline)) int mixed(int m, int depth)
{
    int keep = m * depth + 1;
    if (depth <= 0)
        return m;
    int mixed_rest = (m & 1) ? mixed(m >> 1, depth - 1) : mixed(m + depth, depth - 2);
    int mixed_all = keep ^ mixed_rest;
    return mixed_all;
}

static __device__ int total(const int *in, int left)
{
    if (left == 0)
        return 0;
    int first = in[left];
    int total_rest(total(in, left - 1));
    int total_all = total_rest;
    total_all += first;
    return total_all;
}

// one call remains
static __device__ __attribute__((noinline)) int pairs(int n)
{
    if (n < 2)
        return n;
    int pairs_left = pairs(n - 1);
    int pairs_right = pairs(n - 2);
    int pairs_all = pairs_left + pairs_right;
    return pairs_all;
}

extern "C" __global__ void recursive(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int one = mixed(in[i] + 900, 5 + (in[i] & 3));
    int two = total(in, in[i] & 7);
    int three = pairs(in[i] & 3);
    out[i] = one + two + three;
}
