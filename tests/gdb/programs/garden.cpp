#include "both.h"

// A garden: templates, virtual bases, operators, scoped enums, references, member pointers.
namespace garden {
enum class Season : unsigned char { Spring = 1, Summer, Autumn, Winter };
enum Soil { Clay, Sand = 4, Loam };

struct Size {
  int width = 1, height = 2;
  bool operator==(const Size &o) const { return width == o.width && height == o.height; }
  Size operator+(const Size &o) const { return {width + o.width, height + o.height}; }
  Size &operator+=(int n) {
    width += n;
    height += n;
    return *this;
  }
  int operator[](int i) const { return i ? height : width; }
  explicit operator bool() const { return width > 0; }
};

class Thing {
public:
  explicit Thing(int id) : id_(id) { ++made; }
  virtual int cost() const { return id_; }
  virtual const char *kind() const { return "thing"; }
  int id() const { return id_; }
  DEVICE static int made;

protected:
  int id_;
};
DEVICE int Thing::made = 0;

class Plant : public virtual Thing {
public:
  Plant(int id, int leaves) : Thing(id), leaves(leaves) {}
  const char *kind() const override { return "plant"; }
  int leaves;
};

class Tool : public virtual Thing {
public:
  Tool(int id, double weight) : Thing(id), weight(weight) {}
  const char *kind() const override { return "tool"; }
  double weight;
};

class Hedge final : public Plant, private Tool {
public:
  Hedge(int id) : Thing(id), Plant(id, 9), Tool(id, 2.5) {}
  const char *kind() const override { return "hedge"; }
  int cost() const override { return leaves * 2 + id_; }
  Size size;
};

template <typename T, unsigned N = 3> class Bed {
public:
  using value_type = T;
  struct Slot {
    T value;
    bool taken;
  };
  bool plant(T value) {
    if (used == N)
      return false;
    slots[used].value = value;
    slots[used].taken = true;
    ++used;
    return true;
  }
  template <typename F> int each(F &&f) const {
    int sum = 0;
    for (unsigned i = 0; i < used; i++)
      sum += f(slots[i].value);
    return sum;
  }
  static constexpr unsigned capacity = N;
  Slot slots[N];
  unsigned used = 0;
};

template <typename T> T larger(const T &a, const T &b) {
  return a < b ? b : a;
}

template <> inline const char *larger(const char *const &a, const char *const &b) {
  return a[0] < b[0] ? b : a;
}

int price(int n) {
  return n * 3;
}
double price(double d, int times = 2) {
  return d * times;
}
int price(const Thing &thing) {
  return thing.cost();
}

namespace {
DEVICE int hidden = 42;
int secret(int n) {
  return n + hidden;
}
} // namespace
} // namespace garden

using namespace garden;
using Small = Bed<short, 2>;
typedef int (Thing::*Method)() const;

DEVICE Season now = Season::Summer;
DEVICE Size lot{10, 20};

KERNEL void kern(int *out, int n) {
  Hedge hedge(n);
  Plant fern(2, 5);
  Tool rake(3, 1.5);
  Thing *things[] = {&hedge, &fern, &rake};
  Thing &best = hedge;
  Bed<int> numbers;
  Small small{};
  for (int i = 0; i < 4; i++)
    numbers.plant(i * n);
  small.plant(-1);
  Method method = &Thing::cost;
  int Size::*member = &Size::height;
  Size both = lot + hedge.size;
  both += 3;
  int factor = 2;
  auto twice = [&factor, n](int v) { return v * factor + n; };
  int sum = numbers.each(twice);
  const auto &first = numbers.slots[0];
  int total = 0;
  for (Thing *thing : things)
    total += (thing->*method)();
  out[0] = sum + total + price(n) + (int)price(1.5) + price(best);
  out[1] = both.*member + (both == lot) + both[1] + secret(n);
  out[2] = larger(n, 4) + larger<double>(1, 2.5) + larger<const char *>("a", "b")[0] + first.value;
  out[3] = hedge.kind()[0] + int(now) + Bed<int>::capacity + things[2]->id();
}
