#include "both.h"
namespace math {
enum class Mode : unsigned char { Fast, Exact = 7 };
enum Unit { Metre, Foot = 3 };
template <typename T, int N> struct Vec {
  T data[N];
  static const int size = N;
  T dot(const Vec &other) const { T sum = T(); for (int i = 0; i < N; i++) sum += data[i] * other.data[i]; return sum; }
  T &operator[](int i) { return data[i]; }
};
template <typename T, typename... Rest> struct Pack { T first; Pack<Rest...> rest; };
template <typename T> struct Pack<T> { T first; };
template <Mode M, bool B, char C, Unit U> struct Tagged { int value = (int)M + B + C + U; int get() const { return value; } };
template <template <typename, int> class V, typename T> struct Holder { V<T, 2> inner; };
template <int *P> struct AtPointer { int read() const { return *P; } };
template <int (*F)(int)> int call_it(int x) { int y = F(x); return y; }
template <typename T> T biggest(T a, T b) { T result = a > b ? a : b; return result; }
template <> int biggest<int>(int a, int b) { int result = a > b ? a : b; return result + 0; }
}
DEVICE int target = 11;
static int twice(int x) { return x + x; }
using Vec3 = math::Vec<float, 3>;
typedef math::Vec<math::Vec<int, 2>, 2> Mat;
KERNEL void kern(int *out, int n) {
  Vec3 a = {{1, 2, 3}}, b = {{4, 5, 6}};
  Mat m = {{{{1, 2}}, {{3, 4}}}};
  math::Pack<int, char, double> pack = {1, {'x', {2.5}}};
  math::Tagged<math::Mode::Exact, true, 'c', math::Foot> tag;
  math::Holder<math::Vec, short> hold = {{{5, 6}}};
  math::AtPointer<&target> at;
  float d = a.dot(b);
  int c = math::call_it<twice>(n);
  double big = math::biggest(1.5, 2.5);
  int bigi = math::biggest(3, n);
  a[1] = 9.0f;
  out[0] = (int)d + c + (int)big + bigi;
  out[1] = tag.get() + at.read() + hold.inner.data[1] + m.data[1].data[0] + pack.rest.first + Vec3::size;
}
