#include "both.h"

namespace data {

template <typename T> struct Vec {
  T items[16];
  int size;
  Vec() : size(0) {}
  void push(const T &item) {
    items[size] = item;
    ++size;
  }
  T &operator[](int index) { return items[index]; }
  const T *begin() const { return items; }
  const T *end() const { return items + size; }
};

struct Node {
  int key;
  Node *left, *right;
  explicit Node(int k) : key(k), left(nullptr), right(nullptr) {}
};

class Tree {
public:
  Tree(Node *pool) : pool_(pool), used_(0), root_(nullptr) {}
  bool insert(int key);
  int depth() const { return depth_of(root_); }
  int sum() const;
  static int made;

private:
  static int depth_of(const Node *node) {
    if (!node)
      return 0;
    int l = depth_of(node->left);
    int r = depth_of(node->right);
    return 1 + (l > r ? l : r);
  }
  Node *pool_;
  int used_;
  Node *root_;
};

DEVICE int Tree::made = 0;

bool Tree::insert(int key) {
  Node **at = &root_;
  while (*at) {
    if ((*at)->key == key)
      return false;
    at = key < (*at)->key ? &(*at)->left : &(*at)->right;
  }
  Node *fresh = &pool_[used_++];
  *fresh = Node(key);
  *at = fresh;
  made++;
  return true;
}

int Tree::sum() const {
  Node *stack[8];
  int top = 0, total = 0;
  if (root_)
    stack[top++] = root_;
  while (top > 0) {
    Node *node = stack[--top];
    total += node->key;
    if (node->left)
      stack[top++] = node->left;
    if (node->right)
      stack[top++] = node->right;
  }
  return total;
}

template <typename T> T largest(const Vec<T> &vec) {
  T best = vec.items[0];
  for (const T &item : vec)
    if (item > best)
      best = item;
  return best;
}

} // namespace data

struct Shape {
  int width;
  virtual int area() const { return 0; }
  Shape(int w) : width(w) {}
};

struct Square : Shape {
  Square(int w) : Shape(w) {}
  int area() const override { return width * width; }
};

static int total_area(const Shape &shape, int times) {
  int result = 0;
  for (int i = 0; i < times; ++i)
    result += shape.area();
  return result;
}

KERNEL void kern(int *out, int n) {
  data::Node pool[8] = {data::Node(0), data::Node(0), data::Node(0), data::Node(0),
                        data::Node(0), data::Node(0), data::Node(0), data::Node(0)};
  data::Tree tree(pool);
  data::Vec<int> keys;
  for (int i = 0; i < n; i++)
    keys.push((i * 5) % 7);
  for (int key : keys)
    tree.insert(key);
  bool again = tree.insert(3);
  out[0] = tree.depth();
  out[1] = tree.sum();
  out[2] = data::largest(keys);
  Square square(n);
  auto twice = [&](int x) { return x * 2 + n; };
  out[3] = total_area(square, 2);
  out[4] = twice(5) + again;
}
