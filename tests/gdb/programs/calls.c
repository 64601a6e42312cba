#include "both.h"
#include "calls_more.h"

static int depth_seen;
int counter = 0;

static int factorial(int n) {
  int result;
  if (n <= 1)
    return 1;
  result = n * factorial(n - 1);
  return result;
}

int fibonacci(int n) {
  if (n < 2)
    return n;
  int a = fibonacci(n - 1);
  int b = fibonacci(n - 2);
  return a + b;
}

void nothing(void) {
  counter++;
}

double half(double value) {
  double h = value / 2;
  return h;
}

struct pair { int first, second; };

struct pair make_pair(int a, int b) {
  struct pair p;
  p.first = a;
  p.second = b;
  return p;
}

char letter(int index) {
  return 'a' + index;
}

int *choose(int *a, int *b, int which) {
  if (which)
    return a;
  return b;
}

int scopes(int x) {
  int total = x;
  {
    int x = 2;
    total += x;
    {
      int x = 3, inner = 4;
      total += x + inner;
    }
  }
  return total;
}

int statics(void) {
  static int times = 0;
  static int counter = 100;
  times++;
  counter += times;
  return counter;
}

int deepest(int level) {
  depth_seen = level;
  return level * 2;
}

int deeper(int level) {
  int here = level + 1;
  return deepest(here) + 1;
}

int deep(int level) {
  int here = level + 1;
  return deeper(here) + 1;
}

int loop(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (i % 2)
      sum += square(i);
    else
      sum -= i;
  }
  return sum;
}

int choice(int n) {
  switch (n) {
  case 1:
    return 10;
  case 2:
    return 20;
  default:
    break;
  }
  while (n > 5)
    n--;
  do {
    n++;
  } while (n < 8);
  return n;
}

KERNEL void kern(int *out, int n) {
  int a = factorial(5);
  int b = fibonacci(4);
  nothing();
  double c = half(5.0);
  struct pair d = make_pair(a, b);
  char e = letter(2);
  int *f = choose(&a, &b, 1);
  int g = scopes(1);
  int h = statics() + statics();
  int i = deep(1);
  int j = loop(n);
  int k = choice(n);
  int l = cubed(3);
  out[0] = a + b + (int)c + d.first + e + *f;
  out[1] = g + h + i + j + k + l;
}
