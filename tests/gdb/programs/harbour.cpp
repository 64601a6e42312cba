// Namespaces in namespaces, aliases, scoped and unscoped enumerations, characters of all widths, references.
#include "both.h"

namespace harbour {
DEVICE int depth = 12;
constexpr int piers = 3;
enum Tide { Ebb, Flood = 4, Slack };
enum class Flag : unsigned char { None = 0, Red = 1, Blue = 2, White = 4, Stripes = 6 };
enum class Signal : short { Low = -1, High = 1 };
enum Mask : unsigned { MaskA = 1, MaskB = 2, MaskC = 0x80000000u };

inline namespace v2 {
struct Ship {
  const char *name;
  int length;
  Flag flag;
  Tide tide;
};
DEVICE int version = 2;
} // namespace v2

namespace dock {
namespace inner {
DEVICE int depth = 34;
struct Berth {
  int number;
  Ship *ship;
  enum State { Free, Taken } state;
  enum class Size { S, M, L } size;
  static constexpr char code = 'B';
  struct Rope {
    float length;
    struct Knot {
      short turns;
    } knot;
  } ropes[2];
};
int measure(const Berth &berth) { return berth.ship ? berth.ship->length : 0; }
} // namespace inner
using inner::Berth;
DEVICE unsigned char planks[4] = {1, 2, 3, 4};
int measure(int a) { return a + depth; }
} // namespace dock

namespace short_name = dock::inner;

namespace {
DEVICE int hidden = 56;
int concealed(int a) { return a * hidden; }
struct Private {
  int value;
};
} // namespace

template <typename T> struct Crane {
  T load;
  static int count;
  template <typename U> U lift(U by) { return load + by; }
  struct Hook {
    T weight;
  } hook;
};
template <typename T> int Crane<T>::count = 0;
} // namespace harbour

namespace other {
DEVICE int depth = 78;
using namespace harbour::dock;
typedef harbour::Ship Vessel;
typedef const Vessel *VesselPtr;
} // namespace other

DEVICE int depth = 90;

struct Bits {
  harbour::Flag flag : 3;
  harbour::Tide tide : 4;
  bool on : 1;
  signed char level : 4;
};

union Mixed {
  int number;
  float real;
  unsigned char raw[4];
  Mixed(int n) : number(n) {}
  int low() const { return raw[0]; }
  void clear() { number = 0; }
};

struct Point {
  int x, y;
};
struct Triple {
  int first;
  float second;
  const char *third;
};

static int sum3(int (&values)[3]) { return values[0] + values[1] + values[2]; }

static const int &pick(const int &a, const int &b) { return a < b ? b : a; }

static Point &&forward(Point &&p) { return static_cast<Point &&>(p); }

static int look(harbour::Ship &ship, harbour::dock::inner::Berth *berth, int n) {
  using namespace harbour;
  namespace local = harbour::dock;
  int depth = n;
  static int calls = 5;
  calls += depth;
  {
    int depth = 1000;
    calls += local::inner::measure(*berth) + depth;
  }
  return calls + local::measure(n) + concealed(2); // look
}

static int tour(int *out, int n) {
  harbour::Ship ship = {"Argo", 40, harbour::Flag::Blue, harbour::Slack};
  harbour::dock::Berth berth = {7, &ship, harbour::dock::Berth::Taken, harbour::dock::Berth::Size::M, {{1.5f, {2}}, {2.5f, {3}}}};
  other::Vessel vessel = ship;
  other::VesselPtr pointer = &vessel;
  harbour::Private secret = {8};
  harbour::Crane<int> crane;
  crane.load = 9;
  crane.hook.weight = 10;
  harbour::Flag flags[4] = {harbour::Flag::None, harbour::Flag::Stripes, (harbour::Flag)5, (harbour::Flag)9};
  harbour::Mask mask = (harbour::Mask)(harbour::MaskA | harbour::MaskC);
  harbour::Signal signal = harbour::Signal::Low;
  Bits bits = {harbour::Flag::White, harbour::Slack, true, -5};
  Mixed mixed(0x41424344);
  Point point = {1, 2};
  Point &&moved = forward(static_cast<Point &&>(point));
  int values[3] = {3, 4, 5};
  int (&row)[3] = values;
  const int (*window)[3] = &values;
  auto [px, py] = point;
  auto &[rx, ry] = point;
  auto [t1, t2, t3] = Triple{6, 7.5f, "eight"};
  auto &[a0, a1, a2] = values;
  const int &larger = pick(values[0], values[2]);
  const volatile int *const volatile guarded = values;
  char c = 'c';
  signed char sc = -7;
  unsigned char uc = 'u';
  wchar_t wc = L'\u00e9';
  char16_t c16 = u'\u20ac';
  char32_t c32 = U'\U0001f600';
  char16_t s16[4] = u"abc";
  char32_t s32[5] = U"de\u00e9f";
  wchar_t ws[6] = L"wide\t";
  const char *utf = "gr\303\274n";
  const char *const names[] = {"one", "two", nullptr};
  bool yes = true, no = false;
  bool many[3] = {true, false, true};
  long long huge = -5000000000LL;
  __int128 wide = 5;
  decltype(nullptr) nil = nullptr;
  int *dangling = nullptr;
  void (*action)(harbour::Ship &) = nullptr;
  int (*measurer)(int) = harbour::dock::measure;
  int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int (&plane)[2][3] = matrix;
  out[1] = sum3(row) + px + ry + t1 + a1 + larger + *guarded + moved.y + look(ship, &berth, n);
  out[2] = measurer(1) + mixed.low() + bits.on + plane[1][2] + crane.lift(2.5f) + secret.value;
  return out[1] + out[2] + (int)signal + (int)mask + (*window)[1] + pointer->length; // leave
}

KERNEL void kern(int *out, int n) {
  out[0] = tour(out, n);
}
