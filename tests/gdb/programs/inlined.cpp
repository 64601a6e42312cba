#include "both.h"

DEVICE int hits = 0;

__attribute__((always_inline)) inline int innermost(int v) {
  int local = v + 1;
  hits += local;
  return local * 2;
}

__attribute__((always_inline)) inline int wrapper(int v) {
  int before = v;
  int got = innermost(before);
  return got + before;
}

__attribute__((noinline)) int plain(int v) {
  int result = wrapper(v);
  result += innermost(v);
  return result;
}

KERNEL void kern(int *out, int n) {
  int a = wrapper(n);
  int b = plain(3);
  out[0] = a;
  out[1] = b;
  for (int i = 0; i < 3; i++)
    out[2] += innermost(i);
}
