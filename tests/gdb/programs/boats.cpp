#include "both.h"

// A ferry company: a variant, a map, smart handles, policies, events with member callbacks.

namespace ferry {

template <typename A, typename B> class either {
  int which_;
  union {
    A a_;
    B b_;
  };

public:
  either(A a) : which_(0), a_(a) {}
  either(B b) : which_(1), b_(b) {}
  bool is_first() const { return which_ == 0; }
  template <typename V> auto visit(V v) const { return which_ == 0 ? v(a_) : v(b_); }
};

template <typename K, typename V, int N = 3> class flat_map {
public:
  struct entry {
    K key;
    V value;
    bool used = false;
  };

private:
  entry entries_[N];
  static const int none = -1;

public:
  V *find(const K &key) {
    for (auto &e : entries_)
      if (e.used && e.key == key)
        return &e.value;
    return nullptr;
  }
  V &operator[](const K &key) {
    for (auto &e : entries_)
      if (!e.used || e.key == key) {
        e.used = true;
        e.key = key;
        return e.value;
      }
    return entries_[0].value;
  }
  int count() const {
    int n = 0;
    for (const entry &e : entries_)
      n += e.used;
    return n;
  }
};

struct loud {
  static int volume() { return 11; }
};
struct quiet {
  static int volume() { return 2; }
};
template <typename Policy, typename... Rest> struct horn : Policy {
  int blasts = sizeof...(Rest);
  int noise() const { return Policy::volume() * (blasts + 1); }
};

struct event {
  enum kind_t : unsigned short { arrive = 1, depart, delay = 0x100 } kind;
  long double *unused;
  const char (&code)[4];
  unsigned minutes : 12;
  signed gate : 4;
  bool late() const { return kind == delay && minutes > 5; }
};

class vessel;
typedef void (vessel::*handler)(const event &);
typedef int vessel::*gauge;

class vessel {
protected:
  int load_ = 10, fuel_ = 20;
  DEVICE static int fleet;

public:
  vessel() { ++fleet; }
  void on_arrive(const event &e) { load_ -= e.gate; }
  void on_depart(const event &e) { fuel_ -= (int)e.minutes / 10; }
  void handle(handler h, const event &e) { (this->*h)(e); }
  int read(gauge g) const { return this->*g; }
  static gauge load_gauge() { return &vessel::load_; }
  virtual int capacity() const { return 100; }
  virtual int capacity(int extra) const { return 100 + extra; }
  friend int spy(const vessel &v) { return v.load_ * 1000 + v.fuel_; }
  int operator()(int a = 1) const { return load_ * a; }
  vessel &operator<<(int cargo) {
    load_ += cargo;
    return *this;
  }
  operator const int *() const { return &load_; }
};
DEVICE int vessel_fleet_mirror = 0;

class catamaran : public vessel {
  using vessel::load_;

public:
  using vessel::capacity;
  int capacity() const override { return 40; }
  struct hull {
    double length, beam;
  } hulls[2] = {{30.5, 2.25}, {30.5, 2.5}};
  int twin() const { return load_ / 2; }
};

inline namespace current {
constexpr int season = 2024;
}
namespace {
struct secret_t {
  int pin;
};
DEVICE secret_t secret = {};
} // namespace

template <int N> struct factorial {
  enum { value = N * factorial<N - 1>::value };
};
template <> struct factorial<0> {
  enum { value = 1 };
};

static int score(either<int, double> e) {
  return e.visit([](auto v) { return (int)(v * 2); });
}
static int score(const event *e) { return e->late() ? -1 : 1; }
template <typename T> static T twice(T v) { return v + v; }

} // namespace ferry

using namespace ferry;
namespace f = ferry;
DEVICE int ferry::vessel::fleet = 0;
static const char port_code[4] = "DOV";
typedef flat_map<int, const char *> ports_t;
enum { ROUTES = 4, LAST_ROUTE = ROUTES - 1 };
DEVICE int routes[ROUTES][2] = {{1, 2}, {2, 3}, {3, 4}, {4, 1}};

static int sail(int *out, int n) {
  either<int, double> first(n), second(2.5);
  ports_t ports;
  ports[3] = "Calais";
  ports[9] = "Dover";
  horn<loud, int, char> big;
  horn<quiet> small;
  event arrival = {event::arrive, nullptr, port_code, 15, -2}, late = {event::delay, nullptr, port_code, 30, 7};
  vessel boat;
  catamaran cat;
  handler handlers[2] = {&vessel::on_arrive, &vessel::on_depart};
  gauge dial = vessel::load_gauge();
  boat.handle(handlers[0], arrival);
  cat.handle(handlers[1], late);
  boat << 5 << 6;
  vessel *const fleet[] = {&boat, &cat};
  const vessel &flagship = cat;
  int (&route)[2] = routes[2];
  auto [from, to] = route;
  ports_t::entry *raw = nullptr;
  const char **hit = ports.find(9);
  catamaran::hull hull = cat.hulls[1];
  event::kind_t kinds[3] = {event::arrive, event::delay, (event::kind_t)7};
  int fact = factorial<5>::value;
  int *pointer = routes[1], *&alias = pointer;
  const int *seen = boat;
  unsigned char raw_bytes[] = {0, 'x', 0x7f, 0x80, 0xff, 10};
  auto closure = [&boat, fact, this_n = n * 2](int k) { return boat(k) + fact + this_n; };
  out[1] = score(first) + score(second) + score(&late) + big.noise() + small.noise() + ports.count() + closure(2);
  out[2] = boat.read(dial) + fleet[1]->capacity() + fleet[0]->capacity(5) + cat.twin() + spy(boat) + twice(4) + from + to;
  return out[1] + out[2] + season + secret.pin + *seen + (*hit)[0] + first.is_first() + (int)twice(1.5); // sail
}

KERNEL void kern(int *out, int n) {
  out[0] = sail(out, n);
}
