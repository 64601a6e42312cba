#include "both.h"

// Classes as programs have them: nested templates, virtual and multiple bases, unions, enumerations, text.

enum class Color : unsigned char { Red, Green = 5, Blue };
enum Level { Low = 1, Mid, High = 10 };
enum Bits { None = 0, Read = 1, Write = 2, Exec = 4 };

namespace util {
template <typename T> struct Vec3 {
  T x, y, z;
  T dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
  Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
  Vec3 operator*(T s) const { return {x * s, y * s, z * s}; }
  bool operator==(const Vec3 &o) const { return x == o.x && y == o.y && z == o.z; }
  bool operator<(const Vec3 &o) const { return x < o.x; }
  T &operator[](int i) { return i == 0 ? x : i == 1 ? y : z; }
};
template <typename K, typename V> struct Pair {
  K key;
  V value;
};
template <typename T, unsigned N> struct Ring {
  T slots[N];
  unsigned head, count;
  bool push(T v) {
    if (count == N)
      return false;
    slots[(head + count++) % N] = v;
    return true;
  }
  T pop() {
    T v = slots[head];
    head = (head + 1) % N;
    count--;
    return v;
  }
};
namespace detail {
DEVICE int hidden = 77;
struct Helper { int h; };
} // namespace detail
DEVICE const int kLimit = 99;
int clampTo(int v, int low, int high) {
  int r = v < low ? low : v > high ? high : v;
  return r;
}
} // namespace util

using util::Vec3;
typedef Vec3<float> Vec3f;
typedef util::Pair<int, Vec3f> Tagged;

struct Animal {
  const char *name;
  int legs;
  Animal(const char *n, int l) : name(n), legs(l) {}
  virtual int speak() const { return 1; }
  virtual int age() { return 9; }
};
struct Flyer {
  int wings = 2;
  virtual int fly() { return wings * 10; }
};
struct Dog : Animal {
  int tricks = 3;
  Dog() : Animal("dog", 4) {}
  int speak() const override { return 2; }
};
struct Bird : Animal, Flyer {
  bool canFly = true;
  Bird() : Animal("bird", 2) {}
  int speak() const override { return 3; }
  int fly() override { return 42; }
};
struct Device { int serial = 100; };
struct Input : virtual Device { int keys = 5; };
struct Output : virtual Device { int pixels = 6; };
struct Console : Input, Output { int mode = 7; };

struct Variant {
  enum Kind { Int, Float, Text } kind;
  union {
    int i;
    float f;
    const char *s;
  };
  struct {
    short low, high;
  } range;
};

union Word {
  unsigned u;
  float f;
  unsigned char bytes[4];
  struct { unsigned short lo, hi; } half;
};

struct Packed {
  unsigned mode : 3;
  int delta : 5;
  bool on : 1;
  unsigned : 0;
  Color color : 8;
};

struct Node {
  int value;
  Node *left, *right;
  DEVICE static int created;
  static const int kMax = 8;
};
DEVICE int Node::created = 2;

struct Handler {
  int (*callback)(int);
  int (Animal::*method)() const;
  int Node::*field;
  void *context;
};

class Account {
  int balance;
protected:
  int limit;
public:
  DEVICE static int total;
  explicit Account(int b) : balance(b), limit(100) { total += b; }
  int get() const { return balance; }
  int get(int scale) const { return balance * scale; }
  void deposit(int v) { balance += v; }
  Account &operator+=(int v) { balance += v; return *this; }
  operator int() const { return balance; }
  friend int peek(const Account &a);
};
DEVICE int Account::total = 0;
int peek(const Account &a) { return a.balance + a.limit; }

DEVICE int globalCount = 12;
static DEVICE int fileStatic = 13;
DEVICE Vec3f origin = {0.5f, -1.5f, 2.25f};
DEVICE Level levels[3] = {Low, Mid, High};
DEVICE int grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
DEVICE const char *words[3] = {"alpha", "beta", "gamma"};
DEVICE char title[16] = "station";
DEVICE wchar_t wide[8] = L"wide";
DEVICE char16_t u16[8] = u"sixteen";
DEVICE char32_t u32[8] = U"thirty";

int square(int v) { return v * v; }
int twice(int v) { return v * 2; }
template <typename T> T largest(const T *items, int n) {
  T best = items[0];
  for (int i = 1; i < n; i++)
    if (items[i] > best)
      best = items[i];
  return best;
}
int overload(int v) { return v; }
float overload(float v) { return v * 2; }
int overload(const char *s) { return s[0]; }
int overload(int a, int b) { return a * b; }

static int inner(const Vec3f &v, Level level, Color color) {
  DEVICE static int calls = 0;
  calls++;
  int local = (int)v.x + level + (int)color;
  {
    int local = 5;
    float shadow = 1.25f;
    calls += local + (int)shadow;
  }
  return local + calls;
}

KERNEL void kern(int *out, int n) {
  Dog dog;
  Bird bird;
  Animal *animals[2] = {&dog, &bird};
  Animal &ref = bird;
  Flyer *flyer = &bird;
  Console console;
  Output *output = &console;
  Variant variants[2];
  variants[0].kind = Variant::Int;
  variants[0].i = 7;
  variants[0].range = {1, 2};
  variants[1].kind = Variant::Float;
  variants[1].f = 2.5f;
  variants[1].range = {3, 4};
  Word word;
  word.f = 1.5f;
  Packed packed = {5, -3, true, Color::Green};
  Node leaf = {3, nullptr, nullptr}, other = {9, nullptr, nullptr};
  Node root = {6, &leaf, &other};
  Handler handler = {square, &Animal::speak, &Node::value, &root};
  Account account(50);
  util::Ring<int, 4> ring = {{0}, 0, 0};
  for (int i = 0; i < 3; i++)
    ring.push(i * 10);
  util::Ring<Tagged, 2> tags = {{{1, {1, 2, 3}}, {2, {4, 5, 6}}}, 0, 2};
  util::Pair<Color, util::Pair<Level, double>> deep = {Color::Blue, {High, 0.125}};
  Vec3f a = {1, 2, 3}, b = {4, 5, 6};
  Vec3f sum = a + b;
  Color color = Color::Blue;
  Level level = Mid;
  Bits bits = (Bits)(Read | Exec);
  int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int (&row)[3] = matrix[1];
  int *pointer = &matrix[0][1];
  int **indirect = &pointer;
  const char *text = words[1];
  char buffer[12] = "ab\0cd";
  bool flags[4] = {true, false, true, true};
  unsigned char bytes[5] = {1, 2, 200, 255, 0};
  double numbers[3] = {0.1, 1e30, -2.5};
  long double wideFloat = 1.75;
  long long big = -5000000000ll;
  unsigned long long ubig = 0xfedcba9876543210ull;
  short small = -7;
  char letter = 'q';
  int &&moved = 31;
  const volatile int sensor = 64;
  auto lambda = [n, &level](int v) { return v + n + level; };
  void (*nothing)(int) = nullptr;
  int zeros[200] = {0};
  int mixed[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
  int total = dog.speak() + ref.speak() + flyer->fly() + console.serial;
  total += lambda(2) + square(3) + largest(matrix[0], 3) + (largest(numbers, 3) > 5);
  total += overload(1) + (int)overload(1.5f) + overload("x") + overload(2, 3) + inner(a, level, color);
  total += handler.callback(2) + (dog.*handler.method)() + root.*handler.field + peek(account) + account.get();
  total += util::clampTo(total, 0, 1000) + util::detail::hidden + fileStatic + ring.pop() + account.get(2);
  total += (a == b) + (int)a.dot(b) + (a < b) + twice(4) + (int)a[1];
  account += 5;
  out[0] = total + output->pixels + row[0] + moved + sensor + zeros[0] + mixed[1] + small + letter;
}
