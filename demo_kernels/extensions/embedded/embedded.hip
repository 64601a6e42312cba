// The debug information of this kernel carries this text: no file of the recorded name exists anywhere.
#include "../../device.h"

__device__ int collatz(int n)
{
  int steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n >> 1;
    steps++;
  }
  return steps;
}

extern "C" __global__ void embedded(int *out, const int *in)
{
  int i = global_x();
  out[i] = collatz(in[i]);
}
