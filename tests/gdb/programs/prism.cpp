#include "both.h"

namespace optics {

struct Vec {
  float x, y;
  Vec(float x = 0, float y = 0) : x(x), y(y) {}
  Vec operator*(float k) const { return Vec(x * k, y * k); }
  Vec operator-() const { return Vec(-x, -y); }
  float dot(const Vec &o) const { return x * o.x + y * o.y; }
};

class Surface {
 protected:
  float index_;

 public:
  Surface(float index) : index_(index) {}
  virtual float bend(float angle) const {
    return angle / index_;
  }
  float index() const { return index_; }
};

class Mirror : public Surface {
 public:
  Mirror() : Surface(1.0f), hits(0) {}
  float bend(float angle) const override {
    ++hits;
    return -angle;
  }
  mutable int hits;
};

class Lens : public Surface {
  int id_;

 public:
  Lens(int id, float index) : Surface(index), id_(id) {}
  float bend(float angle) const override {
    float half = Surface::bend(angle);
    return half * 0.5f;
  }
  int id() const { return id_; }
};

template <typename T> struct Ring {
  T slots[3];
  int head = 0;
  void put(T value) {
    slots[head] = value;
    head = (head + 1) % 3;
  }
  T at(int back) const { return slots[(head + 2 - back) % 3]; }
};

float trace(const Surface &s, float angle, int depth) {
  if (depth == 0)
    return angle;
  float next = s.bend(angle);
  return trace(s, next, depth - 1);
}

int count(int n) { return n < 10 ? 1 : 1 + count(n / 10); }
int count(const char *s) {
  int n = 0;
  while (*s++)
    ++n;
  return n;
}

}  // namespace optics

static int filter(int v, int (*f)(int)) {
  int r = f(v);
  return r > 100 ? 100 : r;
}

static int triple(int v) { return 3 * v; }
static int bump(int v) {
  static int bias = 1;
  return v + bias++;
}

struct Guard {
  int &ref;
  Guard(int &r) : ref(r) { ref++; }
  ~Guard() { ref--; }
};

int guarded(int v) {
  int level = 0;
  {
    Guard one(level);
    Guard two(level);
    v += level;
  }
  return v + level;
}

KERNEL void kern(int *out, int n) {
  using namespace optics;
  Mirror mirror;
  Lens lens(7, 2.0f);
  float a = trace(mirror, 30.0f, 2);
  float b = trace(lens, 64.0f, 3);
  out[0] = (int)(a + b);
  Ring<int> ring;
  for (int i = 1; i <= 4; ++i)
    ring.put(i * i);
  out[1] = ring.at(0) + ring.at(1);
  Ring<Vec> path;
  path.put(Vec(1, 2));
  path.put(-Vec(3, 4) * 2);
  out[2] = (int)path.at(0).dot(path.at(1));
  out[3] = count(12345) + count("prism");
  out[4] = filter(n, triple) + filter(n, bump);
  out[5] = guarded(n);
  auto scale = [&](int v) {
    int w = v * n;
    return w + out[5];
  };
  out[6] = scale(2);
  out[7] = mirror.hits + lens.id();
  out[8] = n;
}
