#include "both.h"

// A matrix library in small: iterators, expression templates, mixins, friends, conversions, nested classes.

namespace lattice {

typedef unsigned index_t;

template <typename T, index_t R, index_t C = R> class matrix;

namespace detail {
template <typename T> struct traits {
  static constexpr bool integral = false;
  typedef double wide;
};
template <> struct traits<int> {
  static constexpr bool integral = true;
  typedef long wide;
};
struct counter {
  DEVICE static int copies;
  int own = 1;
  counter() = default;
  counter(const counter &o) : own(o.own + 1) { copies++; }
};
} // namespace detail

DEVICE int detail::counter::copies = 0;

struct slice {
  index_t first, count;
  friend bool operator==(const slice &a, const slice &b) { return a.first == b.first && a.count == b.count; }
  bool contains(index_t i) const { return i >= first && i < first + count; }
  slice operator>>(int by) const { return {first + by, count}; }
  explicit operator bool() const { return count != 0; }
};

template <typename T, index_t N> class row {
  T *data_;

public:
  class iterator {
    T *at_;

  public:
    explicit iterator(T *at) : at_(at) {}
    T &operator*() const { return *at_; }
    iterator &operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const iterator &o) const { return at_ != o.at_; }
    int operator-(const iterator &o) const { return (int)(at_ - o.at_); }
  };
  explicit row(T *data) : data_(data) {}
  T &operator[](index_t i) { return data_[i]; }
  iterator begin() const { return iterator(data_); }
  iterator end() const { return iterator(data_ + N); }
};

template <typename T, index_t R, index_t C> class matrix : public detail::counter {
public:
  typedef T value_type;
  typedef row<T, C> row_type;
  enum layout { by_row, by_column = 3 };
  struct position {
    index_t r, c;
  };
  T cells[R][C];
  layout order = by_row;

  matrix() : cells{} {}
  T &operator()(index_t r, index_t c) { return cells[r][c]; }
  row_type operator[](index_t r) { return row_type(cells[r]); }
  T trace() const {
    T sum = 0;
    for (index_t i = 0; i < (R < C ? R : C); i++)
      sum += cells[i][i];
    return sum;
  }
  position find(T what) const {
    for (index_t r = 0; r < R; r++)
      for (index_t c = 0; c < C; c++)
        if (cells[r][c] == what)
          return {r, c};
    return {R, C};
  }
  template <typename U> U scaled(U by) const { return (U)trace() * by; }
  static index_t size() { return R * C; }
};

template <typename T> using square = matrix<T, 2>;

class shape {
public:
  virtual int sides() const { return 0; }
  virtual const char *name() const { return "shape"; }
  int tag = 7;
};
template <typename Base> class labelled : public Base {
public:
  const char *label = "none";
  const char *name() const override { return label; }
  char initial() const { return name()[0]; }
};
class triangle : public shape {
public:
  int sides() const override { return 3; }
  short angles[3] = {60, 60, 60};
};
class tagged_triangle final : public labelled<triangle> {
  bool solid = true;

public:
  tagged_triangle() { label = "tri"; }
  int sides() const override { return 33; }
  bool is_solid() const { return solid; }
};

enum class axis : char { x = 'x', y, z };
enum unit { metre, inch = 25, foot = 305 };
struct options {
  axis main;
  unsigned verbose : 3;
  unit length;
  union {
    long whole;
    struct {
      short low, high;
    };
  };
  bool operator()(axis a) const { return a == main; }
};

inline int weigh(int a) { return a; }
inline int weigh(int a, int b) { return a * b; }
inline double weigh(double a) { return a / 2; }
inline int weigh(const slice &s) { return (int)s.count; }
inline int weigh(const shape *s) { return s->sides(); }

template <typename T> T clamp(T v, T low, T high) { return v < low ? low : v > high ? high : v; }
template <typename F, typename... A> auto apply(F f, A... a) { return f(a...); }

} // namespace lattice

using lattice::axis;
typedef lattice::matrix<float, 2, 3> grid_t;

DEVICE static int seeds[2] = {1, 1};
static const lattice::slice everything = {0, 100};
static int plus(int a, int b) { return a + b; }
static const int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
int (*const operation)(int, int) = plus;

static float total(grid_t &grid, const lattice::slice &part) {
  float sum = 0;
  for (unsigned r = 0; r < 2; r++)
    for (float v : grid[r])
      sum += v;
  return part.contains(1) ? sum : -sum; // total
}

static int study(int *out, int n) {
  using namespace lattice;
  grid_t grid;
  square<int> identity;
  identity.cells[0][0] = identity.cells[1][1] = seeds[0];
  square<int> small = identity;
  square<double> real;
  grid(1, 2) = 2.5f;
  grid(0, 0) = n;
  grid.order = grid_t::by_column;
  small(0, 0) = 3;
  small(1, 1) = 4;
  real(0, 1) = 0.125;
  slice part = {1, 4}, rest = part >> 2;
  triangle plain;
  tagged_triangle special;
  shape *shapes[2] = {&plain, &special};
  const shape &first = *shapes[0];
  labelled<triangle> *middle = &special;
  options opts = {axis::y, 1, inch, {0x12345}};
  const options *const view = &opts;
  grid_t::position where = grid.find(2.5f);
  grid_t::row_type line = grid[1];
  grid_t::row_type::iterator it = line.begin();
  axis axes[3] = {axis::x, axis::z, (axis)5};
  unit lengths[2] = {foot, (unit)26};
  auto twice = [](int v) { return 2 * v; };
  auto add = [&part, n](int v) mutable { return v + n++ + (int)part.first; };
  const int (&rows)[2][3] = table;
  int slice::*none = nullptr;
  unsigned slice::*field = &slice::count;
  int (shape::*sides)() const = &shape::sides;
  float (*summing)(grid_t &, const slice &) = total;
  detail::traits<int>::wide wide = 1L << 40;
  int &alias = small.cells[1][0], &&temporary = n + 1;
  const char *text[] = {"alpha", "beta"};
  float result = summing(grid, part);
  out[1] = (int)result + small.trace() + (int)real.scaled(2) + weigh(2) + weigh(2, 3) + (int)weigh(5.0) + weigh(part);
  out[2] = weigh(shapes[1]) + (shapes[1]->*sides)() + clamp(n, 0, 5) + (int)clamp(2.5, 0.0, 1.0) + apply(plus, 1, 2);
  out[3] = twice(4) + add(1) + special.initial() + special.is_solid() + rows[1][2] + (part == rest) + opts(axis::y);
  out[4] = *it + (it != line.end()) + (line.end() - it) + grid_t::size() + part.*field + detail::traits<float>::integral;
  return out[1] + alias + temporary + (bool)rest + first.sides() + small.scaled(1.5f) + where.r; // study
}

KERNEL void kern(int *out, int n) {
  out[0] = study(out, n);
}
