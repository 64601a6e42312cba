#include "both.h"

typedef unsigned char byte;
typedef float row_t[4];
typedef struct point { short x, y; } point;
typedef struct box {
  point corners[2];
  const char *label;
  row_t weights;
  struct { byte r, g, b; } color;
} box;

DEVICE row_t matrix[3] = {{1, 2, 3, 4}, {0.5f, 0.25f, 0.125f, 0}, {-1, -1, -1, -1}};
DEVICE byte mask[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 255};
DEVICE int cube[2][3][4];
DEVICE double ratio = 2.0 / 3;
DEVICE unsigned long long huge = 0xfedcba9876543210ull;
DEVICE short little = -2;
DEVICE signed char tiny = -128;
DEVICE _Bool flag = 1;
DEVICE volatile int ticks;
DEVICE const int limit = 12;
DEVICE box *selected;

DEVICE int area(const box *b) {
  int w = b->corners[1].x - b->corners[0].x;
  int h = b->corners[1].y - b->corners[0].y;
  return w * h;
}

DEVICE float sum(row_t *rows, int count) {
  float total = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < 4; j++)
      total += rows[i][j];
  return total;
}

DEVICE point middle(box b) {
  point p;
  p.x = (b.corners[0].x + b.corners[1].x) / 2;
  p.y = (b.corners[0].y + b.corners[1].y) / 2;
  return p;
}

DEVICE void fill(int value) {
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 3; j++) {
      int base = i * 100 + j * 10;
      for (int k = 0; k < 4; k++)
        cube[i][j][k] = base + k + value;
    }
    ticks++;
  }
}

DEVICE int factorial(int n) {
  if (n < 2)
    return 1;
  int rest = factorial(n - 1);
  return n * rest;
}

KERNEL void kern(int *out, int n) {
  box a = {{{1, 2}, {11, 22}}, "first", {1, 2, 3, 4}, {10, 20, 30}};
  box boxes[2] = {a, a};
  int numbers[n];
  for (int i = 0; i < n; i++)
    numbers[i] = i * i;
  boxes[1].label = 0;
  boxes[1].corners[1].x = -3;
  selected = &boxes[1];
  fill(n);
  out[0] = area(&a);
  out[1] = (int)sum(matrix, 3);
  point m = middle(a);
  out[2] = factorial(5);
  out[3] = m.x + m.y + numbers[3];
  selected = 0;
}
