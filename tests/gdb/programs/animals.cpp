#include "both.h"

namespace farm {

enum class Noise : short { Silent, Moo = 4, Bark };
enum Legs { None, Two = 2, Four = 4 };

struct Size {
  float height = 1.0f;
  float length = 2.0f;
  bool operator==(const Size &other) const { return height == other.height && length == other.length; }
};

class Animal {
public:
  Animal(int id, Legs legs) : id_(id), legs_(legs) { ++alive; }
  ~Animal() { --alive; }
  virtual int sound(int times) const { return times; }
  virtual Noise noise() const { return Noise::Silent; }
  int id() const { return id_; }
  const Size &size() const { return size_; }
  Size &size() { return size_; }
  static int count() { return alive; }
  DEVICE static int alive;
  static const int limit = 12;
  int Animal_data = 3;

protected:
  int id_;
  Legs legs_;

private:
  Size size_;
};

DEVICE int Animal::alive = 0;

class Named {
public:
  explicit Named(char first) : initial(first) {}
  char initial;
  struct Tag {
    int number;
    Tag *previous;
  } tag = {5, nullptr};
};

class Cow : public Animal, public Named {
public:
  Cow(int id) : Animal(id, Four), Named('c') {}
  int sound(int times) const override { return times * 10 + milk; }
  Noise noise() const override { return Noise::Moo; }
  int milk = 8;
};

class Dog final : public Animal {
public:
  Dog(int id, int age) : Animal(id, Four), age_(age) {}
  int sound(int times) const override { return bark(times) + age_; }
  Noise noise() const override { return Noise::Bark; }
  Dog &operator++() {
    ++age_;
    return *this;
  }
  operator int() const { return age_; }

private:
  int bark(int times) const { return times * 3; }
  int age_;
};

template <typename T, int Capacity = 4> class Herd {
public:
  using value_type = T;
  struct Node {
    T item;
    Node *next;
  };
  void add(const T &item) {
    nodes_[used_].item = item;
    nodes_[used_].next = used_ ? &nodes_[used_ - 1] : nullptr;
    ++used_;
  }
  T &at(int index) { return nodes_[index].item; }
  const T &operator[](int index) const { return nodes_[index].item; }
  int size() const { return used_; }
  template <typename Function> int each(Function function) const {
    int sum = 0;
    for (int i = 0; i < used_; ++i)
      sum += function(nodes_[i].item);
    return sum;
  }

private:
  Node nodes_[Capacity] = {};
  int used_ = 0;
};

template <typename T> struct Traits {
  static const int bits = 8 * sizeof(T);
};

template <typename T> T add(T a, T b) {
  T result = a + b;
  return result;
}

namespace inner {
DEVICE int depth = 2;
DEVICE int twice(int value) { return value * depth; }
DEVICE double twice(double value) { return value * 2; }
} // namespace inner

} // namespace farm

namespace {
DEVICE int hidden = 77;
DEVICE int reveal(int by) { return hidden + by; }
} // namespace

using farm::inner::twice;
typedef farm::Herd<int> Numbers;

DEVICE static int describe(const farm::Animal &animal, int (farm::Animal::*how)(int) const) {
  int loud = (animal.*how)(2);
  return loud + animal.id();
}

DEVICE static void exchange(int &left, int &right) {
  int kept = left;
  left = right;
  right = kept;
}

DEVICE static farm::Size grow(farm::Size size, float by) {
  size.height *= by;
  return size;
}

KERNEL void kern(int *out, int n) {
  farm::Cow cow(1);
  farm::Dog dog(2, 6);
  farm::Animal *zoo[2] = {&cow, &dog};
  const farm::Animal &first = *zoo[0];
  int &alias = out[3];
  int &&moved = n + 1;
  int total = 0;
  for (farm::Animal *animal : zoo)
    total += describe(*animal, &farm::Animal::sound);
  Numbers numbers;
  numbers.add(n);
  numbers.add(n * 2);
  farm::Herd<farm::Size, 2> sizes;
  sizes.add(grow(first.size(), 3.0f));
  int limit = 10;
  auto below = [&limit, n](int value) { return value < limit ? n : 0; };
  total += numbers.each(below);
  exchange(alias, out[4]);
  ++dog;
  int farm::Named::Tag::*field = &farm::Named::Tag::number;
  total += cow.tag.*field + farm::add(1, 2) + (int)farm::add(0.5, 0.25);
  out[0] = total + twice(3) + (int)twice(1.5) + moved;
  out[1] = reveal(1) + farm::Traits<short>::bits + farm::Animal::count();
  out[2] = dog + (sizes[0] == first.size());
}
