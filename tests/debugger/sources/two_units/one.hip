#include "common.h"

extern "C" __global__ void
one(int *data)
{
    int item = __builtin_amdgcn_workitem_id_x();
    data[item] = scaled(data[item]);
}

// Each unit has a kernel of this name.
static __global__ void
filled(int *data)
{
    data[__builtin_amdgcn_workitem_id_x()] = 10;
}
