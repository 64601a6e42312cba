#include "both.h"
template <class T, unsigned N = 4> class Stack {
  T items_[N];
  unsigned top_ = 0;
public:
  struct Iterator { const Stack *owner; unsigned at; const T &operator*() const { return owner->items_[at]; } Iterator &operator++() { ++at; return *this; } bool operator!=(const Iterator &o) const { return at != o.at; } };
  bool push(const T &v) { if (top_ == N) return false; items_[top_++] = v; return true; }
  T pop() { return items_[--top_]; }
  bool empty() const { return top_ == 0; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, top_}; }
  unsigned size() const { return top_; }
};
struct Money { long cents; Money(long c = 0) : cents(c) {} Money operator+(Money o) const { return Money(cents + o.cents); } bool operator<(const Money &o) const { return cents < o.cents; } };
static Money total(const Stack<Money> &s) {
  Money sum;
  for (const Money &m : s)
    sum = sum + m;
  return sum;
}
static long fact(int n) { long r = n <= 1 ? 1 : n * fact(n - 1); return r; }
KERNEL void kern(int *out, int n) {
  Stack<Money> wallet;
  Stack<int, 2> small;
  wallet.push(Money(100));
  wallet.push(250);
  bool ok = small.push(1) && small.push(2) && small.push(3);
  Money t = total(wallet);
  Money *pm = &t;
  const Stack<Money>::Iterator it = wallet.begin();
  long f = fact(5);
  int last = small.pop();
  out[0] = (int)t.cents + ok + last + (int)(*it).cents;
  out[1] = (int)f + (int)pm->cents + wallet.size();
}
