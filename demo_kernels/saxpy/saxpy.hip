// y = a * x + y: the smallest useful kernel. The grid is no multiple of the workgroup, so the
// last workgroup and its last wave are partial.
#include "../device.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = global_x();
    if (i < n) {
        float product = a * x[i];
        y[i] = product + y[i];
    }
}
