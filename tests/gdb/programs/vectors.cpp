#include "both.h"

namespace math {
template <typename T> struct Vec3 {
  T x, y, z;
  Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
  Vec3 operator-() const { return {-x, -y, -z}; }
  Vec3 operator*(T k) const { return {x * k, y * k, z * k}; }
  bool operator==(const Vec3 &o) const { return x == o.x && y == o.y && z == o.z; }
  explicit operator bool() const { return x || y || z; }
  T dot(const Vec3 &o) const {
    T r = x * o.x;
    r += y * o.y;
    r += z * o.z;
    return r;
  }
  static Vec3 unit(int axis) {
    Vec3 v = {};
    (&v.x)[axis] = 1;
    return v;
  }
};
using Vec = Vec3<float>;
using IVec = Vec3<int>;
constexpr double pi = 3.25;
namespace {
DEVICE int hidden = 11;
}
inline namespace v2 {
DEVICE int version() { return 2; }
} // namespace v2
} // namespace math

template <int N> struct Power {
  static constexpr int value = 2 * Power<N - 1>::value;
  int pad[N];
};
template <> struct Power<0> {
  static constexpr int value = 1;
};

struct Ray {
  math::Vec origin;
  math::Vec direction;
  math::Vec at(float t) const { return origin + direction * t; }
};

struct Scene {
  Ray rays[2];
  const Ray *best;
  int &hits;
  struct Stats {
    unsigned short tested : 9;
    unsigned short passed : 7;
  } stats;
};

enum Axis { X, Y, Z };
enum Flags { None = 0, Fast = 1, Safe = 2, Wide = 8 };

DEVICE Flags operator|(Flags a, Flags b) { return (Flags)((int)a | (int)b); }

namespace render {
using math::Vec;
DEVICE int trace(const Scene &scene, Axis axis) {
  int n = 0;
  for (const Ray &ray : scene.rays) {
    Vec where = ray.at(2.0f);
    if ((&where.x)[axis] > 1)
      n++;
  }
  scene.hits += n;
  return n;
}
} // namespace render

template <typename T, typename... Rest> T sum(T first, Rest... rest) {
  T acc = first;
  ((acc += rest), ...);
  return acc;
}

KERNEL void kern(int *out, int n) {
  int hits = 0;
  Scene scene = {{{{0, 0, 0}, {1, 2, 3}}, {{1, 1, 1}, math::Vec::unit(1)}}, nullptr, hits, {300, 77}};
  scene.best = &scene.rays[1];
  math::IVec whole = {n, -n, 2};
  Power<3> power = {{1, 2, 3}};
  Flags flags = Fast | Wide;
  auto compare = [&](const Ray &a, const Ray &b) {
    float da = a.origin.dot(a.direction), db = b.origin.dot(b.direction);
    return da < db;
  };
  int found = render::trace(scene, Y);
  found += render::trace(scene, Z);
  bool less = compare(scene.rays[0], scene.rays[1]);
  auto [ox, oy, oz] = scene.rays[1].origin;
  int total = sum(1, 2, 3) + (int)sum(0.5, 1.5f);
  out[0] = found + less + (int)ox + power.pad[2] + total;
  out[1] = whole.dot(whole) + math::version() + math::hidden + (flags == Fast);
  out[2] = Power<3>::value + (int)math::pi;
}
