#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
__device__ __attribute__((noinline)) int f(int t) {
  int r = t * 3;
  return r;
}
typedef int (*fn)(int);
__device__ __attribute__((noinline)) int g(int t) {
  return t + 1;
}
extern "C" __global__ void kern(int *out, int n) {
  int tid = __builtin_amdgcn_workitem_id_x();
  int a = 0;
  if (tid > 3 && f(tid) > 20)
    a = 7;
  a += 2;
  fn p = tid & 1 ? f : g;
  a += p(tid);
  a++;
  if (tid > 3)
    a += f(tid);
  else
    a += g(tid);
  out[tid] = a;
}
