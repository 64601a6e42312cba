#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
typedef float float4 __attribute__((ext_vector_type(4)));

namespace ns {

struct Base { int b; };

template <class T, int N> struct Row : Base {
  T item[N];
  int low : 3;
  unsigned high : 5;
  static int count;
  union { int x; float y; };
  enum Kind { A, B = 5, C } kind;
  __device__ T get(int i) const { return item[i]; }
};

enum class Color : unsigned char { Red, Green = 7 };

struct Node {
  Node *next;
  volatile int *const *p;
  struct { char c[2][3]; } inner;
  int (*call)(int, Node *);
  float4 v;
  Color color;
  bool flag;
};

__device__ int scale = 7;

__device__ __attribute__((noinline)) int add(int a, int b)
{
  int c = a + b;
  return c * scale;
}

}

typedef ns::Row<float, 3> Row3;

template <int N> __global__ void kern(float *p, int n, Row3 row, float4 v)
{
  __shared__ float tile[64];
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < n) {
    float t = row.get(i & 1) + N;

    for (int k = 0; k < N; k++) {
      int q = k * 2;
      t += ns::add(q, k);
    }
    tile[i] = t;
    p[i] = tile[i] + v.x;
  }
}

template __global__ void kern<2>(float *, int, Row3, float4);
template __global__ void kern<3>(float *, int, Row3, float4);

__global__ void links(ns::Node *node, ns::Color color)
{
  node->color = color;
  node->next->flag = true;
}
