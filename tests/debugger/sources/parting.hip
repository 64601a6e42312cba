// Lanes that part ways, for debug information made by hand: see lane_pc_program.py. Lines go by their marks.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define NOINLINE __attribute__((noinline))
struct Totals { int sum; char letter; int each[32]; };
__device__ const int table[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8};

extern "C" __device__ NOINLINE int innermost(int val)
{
  return 2 * val;                 // innermost_body
}

extern "C" __device__ NOINLINE int called(int val)
{
  return innermost(val) + 1;      // called_body
}

extern "C" __device__ NOINLINE void parting(unsigned gid, Totals *out)
{
  int elem;
  out->letter = 'p';              // first
  if (gid % 2) {                  // if_1
    elem = table[gid] + 1;        // then_1
    elem = table[gid] + 2;        // then_1_more
  } else {                        // then_1_end
    elem = table[gid] + 3;        // else_1
    elem = table[gid] + 4;        // else_1_more
  }
  if (gid % 2)                    // if_2
    elem = called(table[gid]);    // then_2
  else
    elem = table[gid];            // else_2
  if (gid == -1u)                 // if_3
    elem = table[gid] + 1;        // then_3
  else
    elem = elem + 2;              // else_3
  __atomic_fetch_add(&out->sum, elem, __ATOMIC_RELAXED);  // add
  out->each[gid] = elem;          // store
}

extern "C" __global__ void kernel(Totals *out)
{
  parting(__builtin_amdgcn_workitem_id_x(), out);  // call
}
