#include "both.h"

struct point {
  int x, y;
};

DEVICE int log_count;
DEVICE int log_values[8];

static void note(int value) {
  log_values[log_count % 8] = value;
  log_count++;
}

static int square(int v) { return v * v; }

static int clamp(int value, int low, int high) {
  if (value < low)
    return low;
  if (value > high)
    return high;
  return value;
}

static struct point shift(struct point p, int by) {
  struct point moved = p;
  moved.x += by;
  moved.y -= by;
  return moved;
}

static double average(const int *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += values[i];
  return sum / count;
}

static int search(const int *values, int count, int wanted) {
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (values[middle] == wanted)
      return middle;
    if (values[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

static int ackermann(int m, int n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static int classify(int value) {
  switch (value % 4) {
  case 0:
    note(value);
    return 10;
  case 1:
  case 2:
    note(-value);
    break;
  default:
    return 30;
  }
  return 20;
}

static int jumpy(int value) {
  int tries = 0;
again:
  tries++;
  if (tries < value)
    goto again;
  return tries;
}

static int level3(int v) {
  int three = v + 3;
  note(three);
  return three;
}

static int level2(int v) {
  int two = level3(v) + 2;
  return two;
}

static int level1(int v) {
  int one = level2(v) + 1;
  return one;
}

KERNEL void kern(int *out, int n) {
  struct point start = {1, 2};
  int sum = 0;
  for (int i = 0; i < 5; i++) {
    int s = square(i);
    sum += s;
  }
  do {
    sum -= 7;
  } while (sum > 10);
  start = shift(start, 4);
  double mean = average(out, 5);
  int found = search(out, 64, 21);
  out[0] = clamp(sum, -5, 5) + start.x;
  out[1] = ackermann(1, 2);
  for (int i = 0; i < 4; i++)
    out[2] += classify(i);
  out[3] = jumpy(3) + found + (int)mean;
  out[4] = level1(n);
  note(square(level1(2)));
  out[5] = log_count;
}
