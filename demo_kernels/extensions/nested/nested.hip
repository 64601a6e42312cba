// Lanes part ways twice. What nested.S does, line by line: the debugger shows this file.
__global__ void nested(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  int x = in[i];
  int r = 0;
  if (x & 1) {
    r = 3 * x;
    if (x & 2)
      r += 100;
    else
      r -= 1;
    r ^= 5;
  } else
    r = x + 7;
  out[i] = 2 * r;
}
