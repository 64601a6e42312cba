// Counting with atomics: a histogram per workgroup in LDS, added to the global one at the end.
#include "../device.h"

extern "C" __global__ void histogram(const unsigned char *data, unsigned *bins, unsigned *largest, int n)
{
    __shared__ unsigned counts[16];
    int thread = thread_x();
    if (thread < 16)
        counts[thread] = 0;
    sync_threads();

    for (int i = global_x(); i < n; i += 512) {
        unsigned bin = data[i] >> 4;
        __atomic_fetch_add(&counts[bin], 1, __ATOMIC_RELAXED);
        __atomic_fetch_max(largest, data[i], __ATOMIC_RELAXED);
    }
    sync_threads();

    if (thread < 16)
        __atomic_fetch_add(&bins[thread], counts[thread], __ATOMIC_RELAXED);
}
