// Calls for the unwinder to follow: leaf, middle, recursive, with an array on the stack, with many live values.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device)) __attribute__((noinline))

__attribute__((device)) int offset = 5;

struct Four { int x[4]; };

__device__ int leaf(int a, int b) { return a * b + offset; }

__device__ int middle(int a, int b)
{
  int r = leaf(a, b);
  return r + leaf(b, r);
}

__device__ int recursive(int n)
{
  if (n <= 1)
    return 1;
  return n * recursive(n - 1) + middle(n, 2);
}

__device__ int with_array(int *p, int n)
{
  int values[16];
  for (int i = 0; i < 16; i++)
    values[i] = p[i] + leaf(i, n);
  int sum = 0;
  for (int i = 0; i < (n & 15); i++)
    sum += values[(i + n) & 15];
  return sum + recursive(n & 3);
}

__device__ int many(float a, float b, float c, float d, Four p)
{
  float t = a * b + c * d;
  int r = middle(p.x[0], p.x[1]);
  int q = middle(p.x[2], (int)t);
  return r * q + (int)(a + b + c + d) + recursive(p.x[3]);
}

__global__ void kernel(int *out, int *in)
{
  int i = __builtin_amdgcn_workitem_id_x();
  int r = 0;
  if (i & 1)
    r = recursive(i & 3);
  else
    r = with_array(in, i);
  Four four = {{i, i + 1, r, i & 1}};
  out[i] = r + many(i, 2.0f, r, 1.5f, four);
}
