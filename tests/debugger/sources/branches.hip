// Branches and a loop, whose optimised code has no jumps around short branches: variables that each lane assigns in its
// own branch, in registers of which the lanes of other branches have something else.
#define __global__ __attribute__((global))

extern "C" __global__ void branches(int *out, const int *in)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int x = in[i] & 0xffff;
    int y = x * 3 + i;
    if (x & 1) {
        int t = y * 7;
        y = t + x;
        if (x & 2)
            y ^= 0x55;
    } else {
        y -= i * 2;
    }
    out[i] = y;
    int s = 0;
    for (int j = 0; j < (x & 7); ++j) {
        s += in[j + i] * j;
        if (s & 4)
            s += 3;
        if ((s & 0x30) == 0x30)
            break;
    }
    out[i + 64] = s + y;
}
