// Inclusive prefix sums over rows of 32 lanes, values handed from lane to lane without memory; and a
// ballot. Rows of 32 make the result the same for waves of 32 and of 64 lanes.
#include "../device.h"

extern "C" __global__ void scan(const int *input, int *output, unsigned *ballots)
{
    int i = global_x();
    unsigned lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    unsigned place = lane % 32;
    int sum = input[i];
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        unsigned from = place >= distance ? lane - distance : lane;
        int other = __builtin_amdgcn_ds_bpermute(from * 4, sum);
        if (place >= distance)
            sum += other;
    }
    unsigned long long votes = __builtin_amdgcn_ballot_w64(sum % 3 == 0);
    output[i] = sum;
    ballots[i] = votes >> (lane & 32);
}
