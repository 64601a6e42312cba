// Calls of functions without a value at the ends of all kinds of blocks.
#include "both.h"

DEVICE int total;

void add(int x) { total += x; }

int twice(int x) { return total + x; }

int deep(int x) { return x < 2 ? 1 : deep(x - 1) + twice(x); }

KERNEL void kern(int *out, int n) {
  for (int i = 0; i < n; i++) {
    if (i & 1)
      add(i);
    else {
      twice(i);
      add(2);
    }
    if (i == 3)
      continue;
    if (i == 5) {
      add(7);
      break;
    }
    out[i] = deep(i);
    add(9);
  }
  add(3);
  while (n > 4) {
    add(n);
    n--;
  }
  do {
    add(2);
    n++;
  } while (n < 6);
  switch (n) {
  case 1:
    add(1);
    break;
  case 6:
    add(3);
    break;
  default:
    add(4);
  }
  if (n > 3) {
    add(5);
  } else {
    add(6);
  }
  out[0] = total;
}
