#include "both.h"
struct s { int a; int b; };
union u { int i; float f; };
enum e { A, B = 4 };
typedef enum { C, D } te;
typedef int myint;
typedef struct { int q; } anon;
int twice(int x) { return 2 * x; }
int gi = 3;
int *gp = &gi;
KERNEL void kern(int *out, int n) {
  char c = 'x';
  signed char sc = -3;
  unsigned char uc = 200;
  short sh = 7;
  unsigned short us = 9;
  long l = 11;
  unsigned long ul = 12;
  _Bool bo = 1;
  float f = 2.5f;
  double d = 3.5;
  enum e ee = B;
  te t = D;
  myint m = 5;
  anon an = {3};
  struct s st = {1, 2};
  union u un = {7};
  int arr[3] = {1, 2, 3};
  struct s *sp = &st;
  int *ip = &arr[1];
  void *vp = &st;
  char *cp = "hello";
  int (*fp)(int) = twice;
  int m2[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const int ci = 4;
  volatile int vi = 5;
  __int128 big = 5;
  out[0] = twice(n);
  out[1] = 3;
}
