// Pointers to members, and bases that are found at run time.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
struct A { int j; int jj; __device__ int g(int x) { return x + j; } };
struct B : virtual A { int b; };
struct C : B { int c; };
struct D : A { int d; };
__device__ int A::*pmi = &A::jj;
__device__ int A::*null_pmi = nullptr;
__device__ int (A::*pmf)(int) = nullptr;
__device__ A a;
__device__ A *pa;

extern "C" __global__ void kern(int *out)
{
  C cc;
  D dd;
  pa = &a;
  a.j = 121, a.jj = 1331;
  cc.j = 5, cc.jj = 8, cc.b = 6, cc.c = 7;
  dd.j = 1, dd.jj = 2, dd.d = 3;
  int A::*l = &A::j;
  out[0] = a.*pmi + pa->*l + cc.*l + dd.*l;  // stop
}
