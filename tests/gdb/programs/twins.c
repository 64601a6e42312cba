#include "both.h"

struct pair {
  int a, b;
};

DEVICE static int counter = 7;
DEVICE struct pair first_pair = {1, 2};

static int helper(int x) {
  DEVICE static int calls = 100;
  calls = calls + 1;
  return 2 * x + counter + calls;
}

int other(int x);

KERNEL void kern(int *out, int n) {
  struct pair p = {n, n + 1};
  out[0] = helper(p.a);
  out[1] = other(p.b);
}
