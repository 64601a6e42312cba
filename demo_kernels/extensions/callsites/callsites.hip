// A call whose arguments are lost while it runs: the call site tells what was passed; see callsites.S.
struct Weights {
  int factor, offset;
};
__device__ int weigh(int x, Weights *by)
{
  int factor = by->factor;
  by->factor = 0;
  int y = x * factor + by->offset;
  return y;
}
__global__ void callsites(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  int group = 10 + blockIdx.x;
  int n = in[i];
  Weights weights = {3, i};
  int r = weigh(n + 1, &weights);
  out[i] = r + weights.factor + group;
}
