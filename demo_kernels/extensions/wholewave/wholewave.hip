// A sum over lanes inside a branch that only some of them take; see wholewave.S.
__global__ void wholewave(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  int x = in[i];
  if (x > 50) {
    int total = sum_over_32_lanes(x);
    x = total - x;
  }
  out[i] = x;
}
