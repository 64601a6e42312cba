// Containers of one's own, partial specialisation, CRTP, operators, closures.
#include "both.h"

namespace market {

template <typename T> struct remove_ref { typedef T type; };
template <typename T> struct remove_ref<T &> { typedef T type; };

template <typename A, typename B> struct pair {
  using first_type = A;
  A first;
  B second;
  bool operator==(const pair &o) const { return first == o.first && second == o.second; }
};
template <typename A> struct pair<A, A> {
  A both[2];
  A sum() const { return both[0] + both[1]; }
};

template <typename T, unsigned N = 4> class array_of {
public:
  typedef T value_type;
  typedef T *iterator;
  enum { capacity = N };
  array_of() : used_(0) {}
  void push(const T &v) {
    if (used_ < N)
      data_[used_++] = v;
  }
  T &operator[](int i) { return data_[i]; }
  const T &operator[](int i) const { return data_[i]; }
  int size() const { return (int)used_; }
  bool empty() const { return used_ == 0; }
  iterator begin() { return data_; }
  iterator end() { return data_ + used_; }
  template <typename F> int count_if(F f) const {
    int found = 0;
    for (unsigned i = 0; i < used_; i++)
      found += f(data_[i]) ? 1 : 0;
    return found;
  }

private:
  T data_[N];
  unsigned used_;
};

template <typename T> class optional {
  bool has_;
  union {
    char none_;
    T value_;
  };

public:
  optional() : has_(false), none_(0) {}
  optional(T v) : has_(true), value_(v) {}
  explicit operator bool() const { return has_; }
  T operator*() const { return value_; }
  const T *operator->() const { return &value_; }
};

template <typename T> class owner {
  T *raw_;

public:
  explicit owner(T *raw) : raw_(raw) {}
  T &operator*() const { return *raw_; }
  T *operator->() const { return raw_; }
  T *get() const { return raw_; }
};

struct money {
  long cents;
  money(long c = 0) : cents(c) {}
  money operator+(money o) const { return money(cents + o.cents); }
  money operator-() const { return money(-cents); }
  money operator*(int k) const { return money(cents * k); }
  money &operator+=(money o) {
    cents += o.cents;
    return *this;
  }
  money operator++(int) {
    money old = *this;
    cents++;
    return old;
  }
  money &operator++() {
    ++cents;
    return *this;
  }
  bool operator<(money o) const { return cents < o.cents; }
  bool operator==(money o) const { return cents == o.cents; }
  bool operator!() const { return cents == 0; }
  operator int() const { return (int)cents; }
  int operator()(int a, int b) const { return a * b + (int)cents; }
};
inline money operator-(money a, money b) { return money(a.cents - b.cents); }
inline bool operator>(const money &a, const money &b) { return a.cents > b.cents; }

template <typename Derived> struct priced {
  int price() const { return static_cast<const Derived *>(this)->base() * 2; }
  int tax_ = 3;
};
struct apple : priced<apple> {
  int base() const { return 5; }
  char grade = 'A';
};
struct pear : priced<pear> {
  int base() const { return weight_ + tax_; }
  int weight_ = 40;
};

template <int... Ns> struct numbers {
  static constexpr int count = sizeof...(Ns);
  int values[sizeof...(Ns)] = {Ns...};
};

template <bool Big> struct chooser { static int pick() { return 1; } };
template <> struct chooser<true> { static int pick() { return 2; } };

template <char C, typename T> T tagged(T v) { return v + C; }
template <typename T> T larger(T a, T b) { return a < b ? b : a; }

} // namespace market

using Price = market::pair<int, float>;
using Twins = market::pair<short, short>;
template <typename T> using Few = market::array_of<T, 2>;

static int total(const market::array_of<int> &all, int start) {
  int sum = start;
  for (int i = 0; i < all.size(); i++)
    sum += all[i];
  return sum;
}

static int inspect(int *out, int n) {
  market::array_of<int> counts;
  Few<market::money> wallet;
  Price price = {3, 1.5f};
  Twins twins = {{7, 8}};
  market::pair<const char *, Price> nested = {"nested", {1, 2.5f}};
  market::optional<int> nothing, some(n);
  market::optional<market::money> cash(market::money(250));
  market::owner<Price> owned(&price);
  market::apple apple;
  market::pear pear;
  market::numbers<3, 1, 4, 1, 5> pi;
  market::money a(100), b(250), none;
  int limit = 4, hits = 0;
  auto above = [limit](int v) { return v > limit; };
  auto tally = [&hits, n](int by) {
    hits += by;
    return hits * n;
  };
  auto plain = [](int x, char c) { return x + c; };
  for (int i = 0; i < 4; i++)
    counts.push(i * n);
  wallet.push(a + b);
  wallet.push(-a);
  const market::array_of<int> &view = counts;
  market::money &alias = wallet[0];
  market::remove_ref<int &>::type bare = 6;
  market::array_of<int>::iterator it = counts.begin() + 1;
  int sum = total(counts, tally(2)) + counts.count_if(above) + plain(1, 'a');
  out[1] = market::larger(2, sum) + (int)market::larger(1.5, 2.5) + market::tagged<'!', int>(3);
  out[2] = market::chooser<true>::pick() + market::chooser<false>::pick() + twins.sum() + (counts.empty() ? 1 : 0);
  a += b;
  out[3] = (int)(a - b).cents + (int)(a * 2).cents + (!none ? 1 : 0) + (a > b) + (a < b) + a(2, 3);
  out[4] = (some ? *some : 0) + (int)cash->cents + owned->first + (*owned).first + apple.price() + pear.price();
  out[5] = *it + bare + view.size() + (int)alias.cents + (int)(a++).cents + (int)(++a).cents + (owned.get() != 0);
  out[6] = (price == *owned.get()) + pi.values[2] + pi.count + (int)*counts.end() * 0 + a.cents;
  return sum + (int)nested.second.second + (nothing ? 1 : 0); // here
}

KERNEL void kern(int *out, int n) {
  out[0] = inspect(out, n);
}
