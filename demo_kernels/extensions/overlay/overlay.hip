// A loop of which four iterations run at once, on an array that is partly in registers; see overlay.S.
__global__ void overlay(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  int row[16] = {};
  for (int j = 0; j < 16; j++) {
    int t = in[16 * i + j];
    row[j] = t * t + j;
  }
  int sum = 0;
  for (int k = 0; k < 16; k++)
    sum = 5 * sum + row[k];
  out[i] = sum;
}
