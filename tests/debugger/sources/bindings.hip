// Structured bindings: to a copy, to references, to bit-fields and elements.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
struct Parts { int a; float b; long c : 5; };
__device__ Parts make(int n) { return Parts{n, 2.5f, -3}; }
extern "C" __global__ void kern(int *out, int n) {
  auto [x, y, z] = make(n);
  Parts object{4, 5.5f, 6};
  auto &[r, s, t] = object;
  int array[3] = {n, n + 1, n + 2};
  auto &[first, second, third] = array;
  r++;
  out[0] = x + y + z + r + s + t + first + second + third;
}
