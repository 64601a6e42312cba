#include "both.h"

namespace depot {

struct Money {
  int cents;
  explicit Money(int c = 0) : cents(c) {}
  Money operator+(const Money &other) const { return Money(cents + other.cents); }
  Money &operator+=(int more) {
    cents += more;
    return *this;
  }
  bool operator<(const Money &other) const { return cents < other.cents; }
  bool operator==(const Money &other) const { return cents == other.cents; }
};

template <typename T, int N> class Stack {
  T items[N];
  int count;

 public:
  Stack() : count(0) {}
  bool push(const T &item) {
    if (count == N)
      return false;
    items[count++] = item;
    return true;
  }
  T pop() {
    return items[--count];
  }
  int size() const { return count; }
};

class Vehicle {
 public:
  Vehicle(int wheels) : wheels_(wheels) { made++; }
  virtual int toll() const { return wheels_ * 10; }
  virtual const char *name() const { return "?"; }
  int wheels() const { return wheels_; }
  DEVICE static int made;

 private:
  int wheels_;
};

DEVICE int Vehicle::made = 0;

class Bus : public Vehicle {
 public:
  Bus(int seats) : Vehicle(6), seats(seats) {}
  int toll() const override {
    int base = Vehicle::toll();
    return base + seats;
  }
  const char *name() const override { return "bus"; }
  int seats;
};

class Bike final : public Vehicle {
 public:
  Bike() : Vehicle(2) {}
  const char *name() const override { return "bike"; }
};

namespace {
DEVICE int secret = 3;
int shuffle(int v) { return v ^ secret; }
}

inline namespace v2 {
int version() { return 2; }
}

int charge(const Vehicle &v) {
  int due = v.toll();
  if (v.name()[0] == 'b' && v.wheels() > 2)
    due *= 2;
  return due;
}

int charge(const Vehicle &v, Money &paid) {
  int due = charge(v);
  paid += due;
  return paid.cents;
}

template <typename T> T largest(const T *first, int count) {
  T best = first[0];
  for (int i = 1; i < count; ++i)
    if (best < first[i])
      best = first[i];
  return best;
}

int collatz(int n, int depth = 0) {
  if (n == 1)
    return depth;
  return n % 2 ? collatz(3 * n + 1, depth + 1)
               : collatz(n / 2, depth + 1);
}

}  // namespace depot

using namespace depot;

struct Matrix {
  int cell[2][2];
};

Matrix multiply(const Matrix &a, const Matrix &b) {
  Matrix product;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      product.cell[i][j] = 0;
      for (int k = 0; k < 2; k++)
        product.cell[i][j] += a.cell[i][k] * b.cell[k][j];
    }
  return product;
}

KERNEL void kern(int *out, int n) {
  Money purse(50);
  Bus bus(40);
  Bike bike;
  int tolls = charge(bus) + charge(bike);
  charge(bus, purse);
  Stack<int, 3> numbers;
  Stack<Money, 2> coins;
  for (int i = 0; i < 4; i++)
    numbers.push(i * n);
  coins.push(Money(5)); coins.push(Money(7));
  Money sum = coins.pop() + coins.pop();
  out[0] = tolls + sum.cents;
  int values[4] = {3, 9, 2, 7};
  out[1] = largest(values, 4);
  out[2] = collatz(6);
  Matrix m = {{{1, 1}, {1, 0}}};
  for (int i = 0; i < 3; i++)
    m = multiply(m, m);
  out[3] = m.cell[0][0];
  out[4] = shuffle(n) + version() + numbers.size();
  auto twice = [](int v) { return 2 * v; };
  out[5] = twice(n) + Vehicle::made;
  while (numbers.size() > 0)
    out[6] += numbers.pop();
  out[7] = n;
}
