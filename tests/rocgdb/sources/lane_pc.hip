// Lanes that part at three ifs and in a called function, for debug information made by hand: see lane_pc_program.py.
// The last condition is false for all of them.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))

struct Result {
  int total;
  char mark;
  int each[32];
};

__device__ const Result origin = {32, '2', {32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                                            16, 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1}};
__device__ const int weights[32] = {1, 1, 1, 1, 1, 5, 5, 7, 2, 2, 2, 2, 2, 5, 5, 10,
                                    3, 3, 3, 3, 3, 5, 5, 2, 4, 4, 4, 4, 4, 5, 5, 3};

__device__ static unsigned position(int axis)
{
  switch (axis) {
  case 0:
    return __builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x();
  case 1:
    return __builtin_amdgcn_workgroup_id_y();
  }
  __builtin_trap();
}

__device__ int inner(int val)
{
  return val;  // inner_return
}

__device__ int outer(int val)
{
  return inner(val);  // outer_call
}

__device__ void part_ways(unsigned gid, const int *in, Result *out)
{
  int elem;

  out->total = origin.total;  // copy_total
  out->mark = origin.mark;  // copy_mark

  if (gid % 2)  // if_1_cond
    {
      elem = weights[gid] + 1;  // if_1_then
      elem = weights[gid] + 2;  // if_1_then_2
    }
  else
    {
      elem = weights[gid] + 3;  // if_1_else
      elem = weights[gid] + 4;  // if_1_else_2
    }
  // if_1_end

  if (gid % 2)  // if_2_cond
    elem = outer(weights[gid]);  // if_2_then
  else
    elem = weights[gid];  // if_2_else

  if (gid == -1u)  // if_3_cond
    elem = weights[gid] + 1;  // if_3_then
  else
    elem = weights[gid] + 2;  // if_3_else

  __atomic_fetch_add(&out->total, elem, __ATOMIC_RELAXED);  // add
  out->each[gid] = elem;
}

__device__ void by_index(const int *in, Result *out)
{
  unsigned gid = position(0);
  int elem;

  out->total = origin.total;
  out->mark = origin.mark;

  if (gid % 4)
    elem = weights[gid] + 1;
  else
    elem = weights[gid] + 2;

  if (gid % 4)
    elem = outer(weights[gid]);
  else
    elem = weights[gid];

  __atomic_fetch_add(&out->total, elem, __ATOMIC_RELAXED);
  out->each[gid] = elem;
}

__global__ void kernel(const int *in, Result *out)
{
  unsigned gid = position(0);
  part_ways(gid, in, out);
  by_index(in, out);
}
