// Functions that return what GDB's own test of finish has, and some more.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define NOINLINE __attribute__((noinline))
typedef unsigned long size_t;
struct Empty {};
struct WithStatic { static const int something = 56; };
struct Mixed { float a; short b[2]; };
template <typename T, size_t N> struct Custom { T data[N]; };
union Both { int as_int; char as_chars[4]; };
union Uneven { short s[3]; int i; };
struct Unions { Both both[2]; Uneven uneven; char last; };
struct Flexible { int size; int items[]; };
struct Deep { int a[2]; WithStatic sub; float b; static const int c = 42; double d; };
struct Copied { int x[3]; __device__ Copied(int v) : x{v, v + 1, v + 2} {} __device__ Copied(const Copied &o) : x{o.x[0], 0, 0} {} };

__device__ NOINLINE Empty empty() { return {}; }
__device__ NOINLINE WithStatic with_static() { return {}; }
__device__ NOINLINE Mixed mixed() { return {3.14f, {4, 7}}; }
template <size_t N> __device__ NOINLINE Custom<char, N> sized() { Custom<char, N> r; for (auto &c : r.data) c = 'd'; return r; }
__device__ NOINLINE Unions unions() { return {{{1633771873}, {5}}, {{1, 2, 3}}, 'x'}; }
__device__ NOINLINE Flexible flexible() { return {3}; }
__device__ NOINLINE Deep deep() { return {{8, 16}, {}, 3.14f, 1.60218e-19}; }
__device__ NOINLINE Copied copied() { return Copied(7); }

extern "C" __global__ void kern(int *out)
{
  empty();
  with_static();
  mixed();
  sized<1>(); sized<9>(); sized<32>(); sized<64>();
  unions();
  flexible();
  deep();
  out[0] = copied().x[0];
}
