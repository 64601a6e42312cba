#include "both.h"

namespace geometry {

enum class Kind : unsigned char { Point, Square = 4, Circle };
enum Side { Left = -1, Middle, Right };

struct Shape {
  int id;
  Kind kind = Kind::Point;
  DEVICE static int count;
  static const int limit = 12;
  Shape(int i) : id(i) { count++; }
  virtual int area() const { return 0; }
  virtual int edges() const { return 1; }
  int twice() const { return area() * 2; }
protected:
  int secret = 3;
private:
  int own = 4;
};

DEVICE int Shape::count = 0;

struct Named {
  const char *name = "shape";
  int length() const { return 5; }
};

class Square : public Shape, public Named {
  int side;
public:
  Square(int s) : Shape(1), side(s) { kind = Kind::Square; }
  int area() const override { return side * side; }
  int get() const { return side; }
  void set(int value) { side = value; }
  typedef int length_t;
  struct Corner { int x, y; };
  Corner corner = {1, 2};
};

class Cube final : public Square {
public:
  int height;
  Cube(int s) : Square(s), height(s) {}
  int edges() const override { return 12; }
  int volume() const {
    int base = area();
    return base * height;
  }
};

struct Root { int root = 11; };
struct LeftSide : virtual Root { int left = 12; };
struct RightSide : virtual Root { int right = 13; };
struct Diamond : LeftSide, RightSide { int bottom = 14; };

namespace inner {
DEVICE int depth = 2;
int deepen(int by) { return depth + by; }
} // namespace inner

DEVICE int scale = 3;

} // namespace geometry

namespace {
DEVICE int anonymous = 17;
int unnamed(int v) { return v + anonymous; }
} // namespace

namespace geo = geometry;
using geometry::Cube;

int describe(const geometry::Shape &shape) {
  int result = shape.area() + shape.edges();
  return result;
}

int describe(const geometry::Shape *shape, int extra) {
  return shape->area() + extra;
}

KERNEL void kern(int *out, int n) {
  geometry::Square square(n);
  Cube cube(2);
  geometry::Shape *shape = &cube;
  geometry::Shape &reference = square;
  geometry::Diamond diamond;
  geometry::RightSide *right = &diamond;
  int geometry::Shape::*member = &geometry::Shape::id;
  int (geometry::Square::*method)() const = &geometry::Square::get;
  geometry::Kind kind = geometry::Kind::Circle;
  geometry::Side where = geometry::Right;
  int total = describe(square) + describe(shape, 4);
  total += cube.volume() + cube.twice();
  total += square.*member + (square.*method)();
  total += geometry::inner::deepen(n) + unnamed(1) + geometry::scale;
  total += diamond.root + right->right + (int)kind + where;
  out[0] = total + reference.id;
}
