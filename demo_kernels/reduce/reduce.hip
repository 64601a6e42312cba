// Tree reduction in LDS, one barrier per level; each workgroup leaves one sum.
#include "../device.h"

extern "C" __global__ void reduce(const int *input, int *sums)
{
    __shared__ int partial[256];
    int thread = thread_x();
    partial[thread] = input[global_x()];
    sync_threads();

    for (int stride = 128; stride > 0; stride /= 2) {
        if (thread < stride) {
            int other = partial[thread + stride];
            partial[thread] += other;
        }
        sync_threads();
    }

    if (thread == 0)
        sums[block_x()] = partial[0];
}
