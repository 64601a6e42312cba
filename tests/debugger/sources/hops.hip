// A loop that lanes leave in two ways: while others are in its middle, it is not known where these go on.
#define __global__ __attribute__((global))

extern "C" __global__ void hops(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x();
    const int *at = in + (i & 31);
    int count = 0;
    int seen = 0;
    while (count < 12) {
        int value = *at;
        if (value & 64)
            break;
        seen |= 1 << (value & 15);
        int next = (value >> 5) & 63;
        if (next == count)
            ++next;
        at = in + next;
        ++count;
    }
    out[i] = seen + count;
}
