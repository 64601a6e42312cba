#include "macros.h"
#define WIDTH 4
#define SQ(x) ((x)*(x))
#define CAT(a,b) a##b
#define STR(x) #x
#define VAR(fmt, ...) f(fmt, __VA_ARGS__)
#define NAMED(args...) g(args)
#define EMPTY
#define SELF SELF + 1
#define TWICE(x) SQ(x) + SQ(x)
#define XSTR(x) STR(x)
kernel void k(global int *out) {
  int i = 3;
#undef WIDTH
#define WIDTH 8
  i = SQ(i) + WIDTH;
  i += NESTED(2);
  *out = i;
}
#define LATE 99
