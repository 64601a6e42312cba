#include "common.h"

extern "C" __global__ void
two(int *data)
{
    int item = __builtin_amdgcn_workitem_id_x();
    data[item] = scaled(data[item]) + 1;
}

// Each unit has a kernel of this name.
static __global__ void
filled(int *data)
{
    data[__builtin_amdgcn_workitem_id_x()] = 20;
}
