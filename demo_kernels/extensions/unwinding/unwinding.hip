// Calls in divergent code, three deep; see unwinding.S for where the registers of the callers are.
__device__ int leaf(int x)
{
  return x * x;
}
__device__ int inner(int x)
{
  int r = x;
  if (x & 4)
    r = leaf(x) + 1;
  return r;
}
__device__ int outer(int x)
{
  int k = 7 * x + 1;
  int r = 0;
  if (x & 2)
    r = inner(x);
  return r + k;
}
__global__ void unwinding(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  int x = in[i];
  int r = -x;
  if (x & 1)
    r = outer(x);
  out[i] = r;
}
