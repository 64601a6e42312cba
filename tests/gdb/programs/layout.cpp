#include "both.h"

struct Empty {};
struct Padded { char a; int b; char c; double d; };
struct __attribute__((packed)) Tight { char a; int b; char c; double d; };
struct Flags { unsigned a : 1, b : 2; unsigned char c : 3; unsigned long wide : 40; };
union Value { int i; float f; char bytes[4]; struct { short low, high; } parts; };
struct Nested {
  int tag;
  union { int number; float real; };
  struct Part { char kind; long size; } part;
  Part parts[2];
  enum Mode { Off, On } mode;
  Value value;
};
struct Base { virtual int go() { return 1; } int base; };
struct Derived : Base { int go() override { return 2; } int derived; DEVICE static int shared; Empty nothing; };
DEVICE int Derived::shared = 21;
class Access {
public:
  int open;
  int read() const { return closed; }
protected:
  int guarded;
private:
  int closed;
  friend struct Base;
public:
  explicit Access(int v) : open(v), guarded(v + 1), closed(v + 2) {}
  Access(const Access &) = default;
  ~Access() {}
  static int make(int v) { return v; }
  Access &operator=(const Access &) = default;
  int operator[](int i) const { return i; }
  bool operator<(const Access &o) const { return open < o.open; }
  const int *pointer() const { return &open; }
  void variadic(int a, int b = 2);
};
struct Links {
  Links *self;
  const Links *const fixed;
  int (*call)(int, char);
  int (*table[2])(void);
  int (&array)[3];
  int Padded::*member;
  int (Base::*method)();
  void *raw;
  volatile int *watched;
  int *const *deep;
};
typedef Nested::Part Part;
typedef unsigned long size_type;
typedef int Row[4];
using Callback = void (*)(const Nested &, Row);
typedef const volatile int cv_int;

static int triple(int v, char) { return v * 3; }
static int seven() { return 7; }

KERNEL void kern(int *out, int n) {
  Padded padded = {'p', n, 'q', 2.5};
  Tight tight = {'t', n, 'u', 3.5};
  Flags flags = {1, 2, 5, 123456789012ul};
  Nested nested = {1, {42}, {'k', 9}, {{'a', 1}, {'b', 2}}, Nested::On, {0x40000000}};
  Derived derived;
  derived.base = 5;
  derived.derived = 6;
  Base *base = &derived;
  Access access(3);
  int array[3] = {1, 2, 3};
  Links links = {&links, 0, triple, {seven, seven}, array, &Padded::b, &Base::go, 0, 0, 0};
  Part part = {'x', 3};
  size_type size = sizeof(Nested);
  Row row = {1, 2, 3, 4};
  Callback callback = nullptr;
  cv_int fixed = 4;
  Empty empty;
  decltype(nullptr) null = nullptr;
  out[0] = padded.b + tight.b + flags.b + nested.number + base->go() + access.read();
  out[1] = links.call(2, 'c') + (int)part.size + (int)size + row[1] + fixed + access.make(1);
  out[2] = callback == nullptr && null == nullptr;
}
