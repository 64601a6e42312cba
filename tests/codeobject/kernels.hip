#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
struct S { int a; char b; };
__device__ int counter = 7;
__device__ int zeros[64];
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int *indirect = &counter;
__device__ __attribute__((noinline)) int helper(int x) { return x * counter; }
extern "C" __global__ void first(int *out, int n, float f) {
  __shared__ int tile[64];
  int i = __builtin_amdgcn_workitem_id_x();
  tile[i] = i; __builtin_amdgcn_s_barrier();
  if (i < n) out[i] = helper(tile[63 - i]) + (int)(table[i & 3] * f) + *indirect + zeros[i];
}
template <class T> __global__ void second(T *p, S q) { p[0] = q.a; }
template __global__ void second<double>(double *, S);
