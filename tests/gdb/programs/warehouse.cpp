#include "both.h"
#include "warehouse_parts.h"

DEVICE int moves = 0;
DEVICE int refused;

namespace store {

enum class Level { Low, Mid, High };

struct Report {
  int count;
  int sum;
  double mean;
  Level level;
};

struct Tiny { short a, b; };

int cost(int weight) { return weight * 3; }
int cost(int weight, int distance) { return weight * distance; }
double cost(double weight) { return weight * 1.5; }
int cost(const Part &part)
{
  int base = cost(part.weight);
  return base + part.id;
}

namespace detail {
int cost(char kind) { return kind - 'a'; }
}

Tiny tiny(int a, int b) {
  Tiny t;
  t.a = a;
  t.b = b;
  return t;
}

Report report(const Shelf &shelf) {
  Report r;
  r.count = shelf.used;
  r.sum = shelf.total();
  r.mean = r.count ? (double)r.sum / r.count : 0.0;
  r.level = r.sum > 20 ? Level::High : Level::Low;
  return r;
}

class Robot {
 public:
  Robot() : position(0), steps(0) {}
  explicit Robot(int at) : position(at), steps(0) {}
  virtual int move(int by) {
    position += by;
    steps++;
    moves++;
    return position;
  }
  int move(int by, int times) {
    for (int i = 0; i < times; ++i)
      move(by);
    return position;
  }
  static int speed(int load) {
    return load > 10 ? 1 : 2;
  }
  Robot &turn() { steps = -steps; return *this; }
  int position;

 protected:
  int steps;
};

class Crane : public Robot {
 public:
  Crane(int at, int reach) : Robot(at), reach_(reach) {}
  int move(int by) override {
    int limited = clamp(by, -reach_, reach_);
    return Robot::move(limited);
  }

 private:
  int reach_;
};

}  // namespace store

using store::Robot;

template <int N> int repeat(int v) {
  int r = 0;
  for (int i = 0; i < N; i++)
    r += v;
  return r;
}

int search(const Shelf &shelf, int low, int high, int wanted) {
  if (low > high)
    return -1;
  int middle = (low + high) / 2;
  int found = shelf.parts[middle].id;
  if (found == wanted)
    return middle;
  if (found < wanted)
    return search(shelf, middle + 1, high, wanted);
  return search(shelf, low, middle - 1, wanted);
}

int drive(Robot &robot, int n) {
  int last = 0;
  while (n > 0) {
    last = robot.move(n);
    if (last > 100) {
      refused++;
      break;
    }
    n -= 2;
  }
  return last;
}

KERNEL void kern(int *out, int n) {
  Shelf shelf;
  for (int i = 0; i < 5; i++)
    if (!shelf.add(10 * i, i + n))
      refused++;
  store::Report r = store::report(shelf);
  store::Tiny t = store::tiny(1, 2);
  out[0] = store::cost(n) + store::cost(n, 2) + (int)store::cost(2.0);
  out[1] = store::cost(shelf.parts[1]) + store::detail::cost('c');
  Robot robot(5);
  store::Crane crane(50, 4);
  int a = drive(robot, n), b = drive(crane, n);
  int where = search(shelf, 0, 3, 30);
  int lost = search(shelf, 0, 3, 7);
  out[2] = repeat<2>(a) + repeat<3>(b); out[3] = where + lost;
  auto square = [n](int v) { return v * v + n; };
  out[4] = square(3) + clamp(2.5, 1.0, 2.0) + heavier(shelf.parts[0], shelf.parts[1]);
  out[5] = robot.turn().move(1, 3) + Robot::speed(n);
  out[6] = r.sum + t.a + t.b;
}
