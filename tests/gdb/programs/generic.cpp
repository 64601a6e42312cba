#include "both.h"

template <typename T> struct Box {
  T value;
  int uses = 0;
  T get() { uses++; return value; }
  void put(T v) { value = v; }
};

template <typename A, typename B> struct Both {
  A first;
  B second;
};

template <typename T, int N> struct Fixed {
  T items[N];
  int size() const { return N; }
  T &operator[](int i) { return items[i]; }
  T sum() const {
    T total = 0;
    for (int i = 0; i < N; i++)
      total += items[i];
    return total;
  }
};

template <> struct Box<char> {
  char letter;
  char get() { return letter; }
};

template <typename T> T biggest(T a, T b) {
  return a < b ? b : a;
}

template <int N> int times(int v) {
  int result = v * N;
  return result;
}

struct Complex {
  float re, im;
  Complex operator+(const Complex &o) const { return {re + o.re, im + o.im}; }
  Complex operator-() const { return {-re, -im}; }
  bool operator==(const Complex &o) const { return re == o.re && im == o.im; }
  Complex &operator+=(float v) { re += v; return *this; }
  operator float() const { return re; }
  float operator()(int p) const { return re * p; }
};

struct Point {
  int x, y;
};

struct Counter {
  DEVICE static int made;
  int number;
  Counter() : number(++made) {}
};

DEVICE int Counter::made = 0;

using Integers = Fixed<int, 4>;
typedef Both<int, float> Mixed;
using Function = int (*)(int);

int increment(int &v) {
  v += 1;
  return v;
}

int consume(int &&v) {
  return v;
}

int apply(Function function, int v) {
  return function(v);
}

KERNEL void kern(int *out, int n) {
  Box<int> box = {n};
  Box<char> character = {'q'};
  Box<Box<float>> nested = {{2.5f}};
  Mixed mixed = {1, 2.5f};
  Integers numbers = {{1, 2, 3, 4}};
  Fixed<Point, 2> points = {{{1, 2}, {3, 4}}};
  Complex a = {1, 2}, b = {3, 4};
  Complex c = a + b;
  Counter one, two;
  Point point = {5, 6};
  auto [px, py] = point;
  int &reference = n;
  const int &constant = px;
  int &&moved = 5;
  Point &alias = point;
  Function function = times<3>;
  auto add = [n](int v) { return v + n; };
  auto change = [&point](int v) { point.x = v; return point.y; };
  bool truth = a == b;
  int total = box.get() + biggest(n, 3) + times<2>(4);
  total += numbers.sum() + numbers[1] + (int)c.re;
  total += add(10) + change(8) + apply(function, 2);
  total += increment(reference) + consume(7) + constant + moved + alias.x;
  total += (int)biggest(1.5f, 2.5f) + one.number + two.number + truth;
  out[0] = total + py + character.get() + (int)nested.value.value + mixed.first + points[1].x;
}
