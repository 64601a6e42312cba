#include "../both.h"
/* Its names are those of the other file, its types are not. */

struct pair {
  float a, b, c;
};

DEVICE static int counter = 8;

DEVICE struct pair second_pair = {1, 2, 3};

static int helper(int x) {
  DEVICE static int calls = 200;

  calls += 2;
  return 3 * x + counter + calls;
}

int other(int x) {
  struct pair p = {x + 0.5f, 2, 3};

  p.c += x;
  return helper(x) + (int)p.a;
}
