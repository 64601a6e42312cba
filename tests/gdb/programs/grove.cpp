#include "both.h"

struct Node {
  int key;
  Node *left, *right;
};

DEVICE int visited;
DEVICE unsigned char flags[8];
DEVICE float level = 0.5f;

__attribute__((always_inline)) inline int bigger(int a, int b) {
  int m = a;
  if (b > a)
    m = b;
  return m;
}

__attribute__((always_inline)) inline int twice_bigger(int a, int b) {
  int first = bigger(a, b);
  return first + bigger(first, a + b);
}

int depth(Node *node) {
  if (!node)
    return 0;
  visited++;
  int l = depth(node->left);
  int r = depth(node->right);
  return 1 + bigger(l, r);
}

Node *insert(Node *root, Node *fresh) {
  if (!root) return fresh;
  if (fresh->key < root->key)
    root->left = insert(root->left, fresh);
  else
    root->right = insert(root->right, fresh);
  return root;
}

template <class F> void walk(Node *node, F visit) {
  if (node == nullptr)
    return;
  walk(node->left, visit);
  visit(node->key);
  walk(node->right, visit);
}

class Counter {
  int count;
  int limit;

 public:
  Counter(int limit) : count(0), limit(limit) {}
  Counter &operator++() {
    if (count < limit)
      ++count;
    return *this;
  }
  operator int() const { return count; }
  int operator()(int by) {
    count += by;
    return count;
  }
  bool full() const;
};

bool Counter::full() const {
  return count == limit;
}

int machine(int state) {
  int rounds = 0;
again:
  switch (state) {
    case 0: state = 2; break;
    case 1: state = 3; goto again;
    case 2: state = 1; break;
    default: goto done;
  }
  rounds++;
  goto again;
done:
  return rounds;
}

float blend(float a, float b, float t) {
  float rest = 1 - t;
  return a * rest
       + b * t;
}

long sum_to(long n) {
  return n <= 0
             ? 0
             : n + sum_to(n - 1);
}

KERNEL void kern(int *out, int n) {
  Node nodes[5];
  int keys[5] = {4, 2, 6, 1, 3};
  Node *root = nullptr;
  for (int i = 0; i < 5; i++) {
    nodes[i].key = keys[i];
    nodes[i].left = nodes[i].right = nullptr;
    root = insert(root, &nodes[i]);
  }
  out[0] = depth(root);
  int order = 0;
  walk(root, [&order](int key) { order = order * 10 + key; });
  out[1] = order;
  Counter counter(3);
  while (!counter.full())
    ++counter;
  out[2] = counter + counter(2);
  out[3] = machine(0);
  out[4] = twice_bigger(n, 3);
  level = blend(1.0f, 3.0f, level);
  flags[2] = 'x'; flags[3] |= 4;
  out[5] = sum_to(4);
  for (int i = 0; i < 3; i++) { for (int j = 0; j < 2; j++) { out[6 + i] += j; visited += i; } }
}
