// Several bases, virtual bases, members of all kinds, pointers to members.
#include "both.h"

#ifdef __AMDGCN__
extern "C" DEVICE void __cxa_pure_virtual() {}
#endif

class Node {
public:
  explicit Node(int id) : id_(id), link_(nullptr) { ++alive; }
  ~Node() { link_ = nullptr; }
  virtual int area() const { return id_; }
  virtual const char *kind() const = 0;
  int id() const { return id_; }
  static int created() { return alive; }
  DEVICE static int alive;
  static constexpr int limit = 99;
  DEVICE inline static const char *const title = "node";

protected:
  int id_;
  mutable Node *link_;
};
DEVICE int Node::alive = 0;

struct Named {
  virtual const char *name() const { return text; }
  char text[8];
  Named(const char *t) : text{t[0], t[1], t[2], 0} {}
};

struct Plain {
  int x = 1, y = 2;
  int sum() const { return x + y; }
};

class Box : public Node, public Named, private Plain {
public:
  Box(int w, int h) : Node(w * 10), Named("box"), w_(w), h_(h) {}
  int area() const override { return w_ * h_; }
  const char *kind() const override { return "box"; }
  virtual int volume(int d = 1) { return area() * d; }
  int secret() const { return sum(); }

private:
  int w_, h_;
};

class Cube final : public Box {
public:
  explicit Cube(int w) : Box(w, w), depth(w) {}
  int volume(int d) override { return area() * depth * d; }
  int depth;
  struct Corner {
    short x, y, z;
  } corner = {1, 2, 3};
  enum Face { Top, Bottom = 5, Side } face = Side;
  union {
    int as_int;
    float as_float;
  };
};

struct Root {
  int root = 11;
  int shared = 1;
  virtual int go() { return root; }
};
struct Left : virtual Root {
  int left = 22;
  int shared = 2;
  int go() override { return left; }
};
struct Right : virtual Root {
  int right = 33;
  int only = 4;
};
struct Join : Left, Right {
  int join = 44;
  int go() override { return join + left + right + root; }
};

struct Table {
  int Plain::*field;
  int (Plain::*method)() const;
  int (Node::*virt)() const;
  int (*free_function)(const Node &, int);
  int (&ref)[3];
  const Plain &plain;
  Node *const nodes[2];
};

static int scale(const Node &node, int by) { return node.area() * by; }
static int scale(const Plain &plain, int by) { return plain.sum() * by; }
static int scale(int value) { return value * 3; }
static int scale(double value) { return (int)(value * 10); }
static int scale(const char *text) { return text[0]; }

static int by_value(Plain p, Plain &r, Plain *q, Plain &&m) {
  p.x += 5;
  r.y += 6;
  return p.x + r.y + q->x + m.y; // by value
}

int Join_total(Join &join, Root *root, Left &left) {
  int sum = join.go() + root->go() + left.go();
  return sum + join.only; // join
}

static int visit(int *out, int n) {
  Box box(3, 4);
  Cube cube(n);
  Node *node = &cube;
  Named *named = &box;
  Node &reference = box;
  Join join;
  Root *root = &join;
  Left *left = &join;
  Right &right = join;
  Plain plain, other = {5, 6};
  int array[3] = {4, 5, 6};
  Table table = {&Plain::y, &Plain::sum, &Node::area, scale, array, plain, {&box, &cube}};
  int Plain::*none = nullptr;
  Cube::Corner corner = {7, 8, 9};
  Cube::Face face = Cube::Bottom;
  const Cube *const fixed = &cube;
  Plain plains[2] = {{1, 1}, {2, 3}};
  cube.as_float = 1.0f;
  out[1] = node->area() + reference.area() + (int)named->name()[0] + Join_total(join, root, *left) + right.only;
  out[2] = plain.*table.field + (plain.*table.method)() + (node->*table.virt)() + table.free_function(*node, 2);
  out[3] = by_value(plain, other, &plains[1], Plain{8, 9}) + cube.volume(2) + box.volume() + box.secret();
  out[4] = scale(2) + scale(0.5) + scale("z") + scale(plain, 2) + Node::created() + face + corner.y + fixed->depth;
  out[5] = node->kind()[0] + (none == nullptr) + node->id();
  return out[1] + out[2]; // end
}

KERNEL void kern(int *out, int n) {
  out[0] = visit(out, n);
}
