// Names in namespaces, classes and functions, and enumerations without a name.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
namespace ns {
enum Side { Left = -1, Mid, Right };
enum class Kind { A, B = 3 };
namespace in { enum { X = 7, Y }; }
struct Base {
  enum State { Off = 40, On } state;
  static const int limit = 3;
  static __device__ int count;
  __device__ int twice(int x) { return 2 * x + state; }
  __device__ int never();
  __device__ int over(int); __device__ int over(float);
};
__device__ int Base::count = 2;
struct Derived : Base { __device__ int get() { return state; } };
__device__ int local(int a) {
  enum Inner { L0, L1 } l = L1;
  return a + l;
}
}
__device__ int half(int x) { return x / 2; }
struct Own { __device__ int ushort() { return 1; } };
namespace other = ns::in;
namespace short_ns = ns;
namespace { enum Hidden { H0, H1 }; }
enum Flags { F1 = 1, F2 = 2, F4 = 4 };
struct Nested { enum Bits { P1 = 1, P2 = 2, P4 = 4 } bits; };

extern "C" __global__ void kern(int *out, int n) {
  ns::Side side = ns::Right;
  ns::Kind kind = ns::Kind::B;
  ns::Base base;
  base.state = ns::Base::On;
  ns::Derived derived;
  derived.state = ns::Base::Off;
  Hidden hidden = H1;
  Flags flags = Flags(5);
  Nested nested{Nested::Bits(5)};
  auto y = ns::in::Y;
  out[0] = ns::local(n) + side + base.twice(1) + derived.get() + y + hidden + base.count + half(n) + Own().ushort();
}
#define KEPT __attribute__((used)) __device__
KEPT int wide(int x) { return x; }
KEPT int wide(unsigned x) { static __device__ int kept = 6; return x + kept; }
KEPT int wide(unsigned long x) { return x; }
struct Signed {
  __device__ int pick(int a) { return a; }
  __device__ int pick(int a, char b) const { static __device__ int calls = 70; return a + b + calls; }
  __device__ int pick(unsigned a) { return a; }
};
KEPT int use(Signed s) { return s.pick(1) + s.pick(2, 'c') + s.pick(3u); }
