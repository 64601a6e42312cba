// A class with virtual functions, for the places of their slots.
#define __device__ __attribute__((device))
struct V {
  int a;
  __device__ virtual int f(int x);
  __device__ virtual int g(int x);
  __device__ int plain(int x) { return x; }
};
__device__ int V::f(int x) { return plain(x); }
__device__ int V::g(int x) { return x + a; }
