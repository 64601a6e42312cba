#include "both.h"

// Classes in namespaces, calls of all kinds, references, casts and what stands around them.

namespace outer {
struct Tag { int id; };
namespace inner {
struct Item { int weight; Item *next; };
enum class State { Idle, Busy = 3 };
int weigh(const Item &item) { return item.weight * 2; }
} // namespace inner
using inner::Item;
inline namespace v1 {
DEVICE int version = 4;
}
} // namespace outer
using namespace outer;
namespace alias = outer::inner;

struct Base {
  int base = 1;
  virtual int kind() { return 0; }
  int plain() { return base; }
};
struct Left : virtual Base { int left = 2; };
struct Right : virtual Base { int right = 3; int kind() override { return 7; } };
struct Bottom : Left, Right { int bottom = 4; };

struct Stream {
  int total = 0;
  Stream &operator<<(int v) { total += v; return *this; }
  int operator[](const char *s) const { return s[0]; }
  int operator()(int a, int b) { return a * b + total; }
  explicit operator bool() const { return total != 0; }
  Stream &operator++() { total++; return *this; }
  Stream operator++(int) { Stream old = *this; total++; return old; }
  bool operator!() const { return total == 0; }
  int operator*() const { return total; }
  Stream *operator->() { return this; }
};
Stream operator-(const Stream &s, int v) { Stream r = s; r.total -= v; return r; }
bool operator!=(const Stream &a, const Stream &b) { return a.total != b.total; }

template <typename T> struct List {
  struct Cell { T value; Cell *next; };
  Cell *head = nullptr;
  int size = 0;
  T front() const { return head->value; }
  void link(Cell *cell) { cell->next = head; head = cell; size++; }
};
template <typename T, typename U> struct Map { T key; U value; List<U> list; };
template <int N> struct Constant { static constexpr int value = N; int dummy = N; };
template <typename T> T add(T a, T b) { return a + b; }
template <typename... A> int count(A... a) { return sizeof...(a); }

struct Matrix {
  float cells[2][2];
  float at(int r, int c) const { return cells[r][c]; }
  float &at(int r, int c) { return cells[r][c]; }
};

class Widget {
  friend int poke(Widget &w);
  int secret = 9;
public:
  enum Shape { Round, Flat = 5 };
  struct Size { short w, h; } size = {3, 4};
  union { int raw; float real; };
  Shape shape = Flat;
  mutable int reads = 0;
  DEVICE static int made;
  int get() const { reads++; return secret; }
  static int next(int v) { return v + 1; }
  const Size &where() const { return size; }
  Widget *self() { return this; }
  Widget() : raw(0) { made++; }
};
DEVICE int Widget::made = 0;
int poke(Widget &w) { return ++w.secret; }

typedef int (*Binary)(int, int);
typedef int Grid[2][3];
using Method = int (Widget::*)() const;

int sub(int a, int b) { return a - b; }
void nothing() {}
const char *name(int v) { return v ? "yes" : "no"; }
double ratio(float a, double b) { return a / b; }
bool odd(int v) { return v & 1; }
char letter(int v) { return 'a' + v; }
outer::Tag make(int v) { return {v}; }
int sum(const int *items, int n) {
  int total = 0;
  for (int i = 0; i < n; i++)
    total += items[i];
  return total;
}
int byReference(int &v) { return v += 10; }
int byClass(Widget w) { return w.get(); }
unsigned char small(unsigned char v) { return v + 1; }
long long wide(long long v) { return v * 1000000007; }
float single(float v) { return v * 0.5f; }
outer::inner::State toggle(outer::inner::State s) {
  return s == alias::State::Idle ? alias::State::Busy : alias::State::Idle;
}

DEVICE Grid grid = {{1, 2, 3}, {4, 5, 6}};
DEVICE const int table[4] = {10, 20, 30, 40};
DEVICE int counter = 100;

KERNEL void kern(int *out, int n) {
  outer::Tag tag = {5};
  alias::Item second = {20, nullptr}, first = {10, &second};
  alias::State state = alias::State::Busy;
  Bottom bottom;
  Base *base = &bottom;
  Right &right = bottom;
  Stream stream;
  stream << 3 << 4;
  List<int> list;
  List<int>::Cell one = {1, nullptr}, two = {2, nullptr};
  list.link(&one);
  list.link(&two);
  Map<char, List<int>> map = {'k', list, {}};
  Constant<5> constant;
  Matrix matrix = {{{1, 2}, {3, 4}}};
  Widget widget;
  const Widget &view = widget;
  Binary binary = sub;
  Method method = &Widget::get;
  int Widget::Size::*none = nullptr;
  short Widget::Size::*field = &Widget::Size::h;
  int items[4] = {4, 3, 2, 1};
  int (*rows)[3] = grid;
  int *const fixed = &items[1];
  const int *readonly = table;
  void *opaque = &items[2];
  char text[6] = "hello";
  const char *words[2] = {"up", "down"};
  auto closure = [&items, n](int i) mutable { return items[i] + n; };
  float number = 3.75f;
  double precise = -0.001;
  unsigned bits = 0xf0f0u;
  signed char tiny = -100;
  bool flag = n > 3;
  int total = sub(5, 3) + byReference(counter) + byClass(widget) + poke(widget) + sum(items, 4) + closure(1);
  total += (int)ratio(1.5f, 2) + odd(3) + letter(1) + make(3).id + small(254) + (int)wide(3) + (int)single(5);
  total += (int)toggle(state) + name(1)[0] + Widget::next(4) + view.where().w + widget.self()->get() + list.front();
  total += add(1, 2) + (int)add(1.5, 2.5) + count(1, 2, 3) + (int)matrix.at(1, 1) + (int)view.get() + stream(2, 3);
  total += weigh(first) + (stream != stream) + *(stream - 2) + stream["a"] + !stream + base->kind() + right.plain();
  stream++;
  ++stream;
  nothing();
  out[0] = total + binary(4, 2) + (widget.*method)() + widget.size.*field + rows[1][2] + Constant<5>::value;
}
