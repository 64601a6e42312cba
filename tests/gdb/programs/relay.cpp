#include "both.h"

// Overloads, nested namespaces, recursion, unions in classes, references to arrays, defaults.
namespace net {
inline namespace v2 {
struct Address {
  unsigned char part[4];
  unsigned port : 16, kind : 4;
};
} // namespace v2

namespace detail {
using Hash = unsigned long;
Hash mix(Hash h, unsigned char c) {
  h ^= c;
  h *= 1099511628211ul;
  return h;
}
} // namespace detail

class Value {
public:
  enum Kind { Empty, Int, Float, Text };
  Value() = default;
  Value(int i) : kind(Int) { u.i = i; }
  Value(float f) : kind(Float) { u.f = f; }
  Value(const char *t) : kind(Text) { u.t = t; }
  ~Value() { ++dropped; }
  bool is(Kind k) const { return kind == k; }
  Kind kind = Empty;
  union {
    int i;
    float f;
    const char *t;
  } u = {};
  DEVICE static unsigned dropped;
};
DEVICE unsigned Value::dropped;

template <typename T> struct Node {
  T value;
  Node *left = nullptr, *right = nullptr;
  Node(T v) : value(v) {}
  int depth() const {
    int l = left ? left->depth() : 0;
    int r = right ? right->depth() : 0;
    return 1 + (l > r ? l : r);
  }
  void add(Node &n) {
    Node *&side = n.value < value ? left : right;
    if (side)
      side->add(n);
    else
      side = &n;
  }
};

detail::Hash hash(const Address &a) {
  detail::Hash h = 14695981039346656037ul;
  for (unsigned char c : a.part)
    h = detail::mix(h, c);
  return h + a.port;
}

template <int N> int total(const int (&numbers)[N]) {
  int sum = 0;
  for (int n : numbers)
    sum += n;
  return sum;
}

unsigned long long power(unsigned base, unsigned to) {
  if (to == 0)
    return 1;
  unsigned long long rest = power(base, to / 2);
  rest *= rest;
  return to % 2 ? rest * base : rest;
}
} // namespace net

struct Tracer {
  int &count;
  explicit Tracer(int &c) : count(c) { ++count; }
  ~Tracer() { --count; }
};

DEVICE net::Address home = {{10, 0, 0, 1}, 8080, 3};
DEVICE int depth = 0;

int relay(int hops, const net::Address &to) {
  Tracer tracer(depth);
  if (hops == 0)
    return static_cast<int>(net::hash(to) & 0xff);
  return relay(hops - 1, to) + 1;
}

KERNEL void kern(int *out, int n) {
  int numbers[] = {4, 8, 15, 16, 23, 42};
  net::Node<int> root(5), low(2), high(8), mid(6);
  root.add(low);
  root.add(high);
  root.add(mid);
  net::Value empty, whole(n), part(0.75f), text("relayed");
  net::Address other = home;
  other.part[3] = 77;
  bool odd = n & 1;
  wchar_t wide = L'\u20ac';
  char16_t short_wide = u'\u00e9';
  int all = net::total(numbers);
  int got = relay(3, other);
  out[0] = all + got + root.depth();
  out[1] = (int)net::power(3, n) + odd;
  out[2] = whole.is(net::Value::Int) + part.is(net::Value::Text) + text.u.t[0] + empty.kind;
  out[3] = wide + short_wide;
}
