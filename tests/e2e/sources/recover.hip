// Variables whose registers are used again while they are in scope. Each stores its value once, in a row of its own.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __noinline__ __attribute__((noinline))

__device__ __noinline__ int mix(int a, int b)
{
    int sum = a + b;
    int product = a * b + sum;
    int total = 0;
    for (int i = 0; i < (b & 3) + 1; ++i)
        total += product / (i + 2) ^ total << 1;
    return total;
}

__device__ __noinline__ int outer(int a, int depth)
{
    const int kept = a * 3 + depth;
    int inner = mix(a, depth);
    if (a & 1)
        inner += mix(a + 1, depth);
    return inner * kept;
}

extern "C" __global__ void recover(long long *trace, const int *in, int count, float scale, long long wide)
{
    int gid = __builtin_amdgcn_workgroup_id_x() * 80 + __builtin_amdgcn_workitem_id_x();
    int x = in[gid];
    const int twice = x * 2 + 1;
    trace[gid] = count;
    trace[160 + gid] = gid;
    trace[2 * 160 + gid] = x;
    trace[3 * 160 + gid] = twice;
    trace[4 * 160 + gid] = wide;
    if (gid >= count)
        return;
    int first = outer(x, 2);
    trace[5 * 160 + gid] = first;
    float scaled = scale * x;
    int changed = x;
    if (x % 3 == 0) {
        int branch = x * 5 + first;
        trace[6 * 160 + gid] = branch;
        changed += outer(branch, 1);
    } else {
        changed -= 7;
    }
    long long far = wide * first;
    trace[7 * 160 + gid] = far;
    int lost = x;
    if (changed & 4)
        lost = changed / 3;
    int sum = 0;
    for (int step = 0; step < (x & 7); ++step) {
        int own = step * x + lost;
        sum += own & 0xff;
        if (sum > 300)
            break;
    }
    wide += sum;
    trace[8 * 160 + gid] = sum + changed + lost + wide;
    trace[9 * 160 + gid] = (long long)(scaled * 16.0f);
    trace[10 * 160 + gid] = far ^ first;
}
