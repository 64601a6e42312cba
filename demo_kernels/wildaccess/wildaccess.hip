// A bug to find: the loop bound is off by one for a few lanes, and they read past the end of their table.
#include "../device.h"

extern "C" __global__ void wildaccess(const int *table, int *output, int rows)
{
    int row = global_x();
    int sum = 0;
    for (int k = 0; k <= (row >= 60 ? 1024 : 3); ++k)
        sum += table[row * 4 + k];
    output[row] = sum;
}
