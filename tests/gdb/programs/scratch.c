#include "both.h"
struct { int a; struct { int b; } in; union { int u; float f; }; } anon;
static struct { short q; } *anonp, anons[2];
static enum { AA, BB } anone;
struct holder { struct { int x, y; } *ps; union { int u; struct { char c; } deep; } *pu; struct { int k; } arr[2]; int (*fp)(struct { int z; } *); enum { E1, E2 } *pe; };
typedef unsigned char octet_t;
typedef int (*fn_t)(int);
typedef octet_t *optr_t;
static int one(int x) { return x + 1; }
static fn_t getfn(int x) { return one; }
static octet_t octet(int x) { return 65; }
static octet_t buf[6];
static optr_t optr(int x) { return buf; }
struct hb { unsigned a : 4, b : 20; long c : 40; char t; };
static struct hb gethb(struct hb h) { h.a++; return h; }
static void takes(struct { int z; } *p) {}
double _Complex cz = 1.5;
char text8[8] = "abcdefg";
struct holder ho;
KERNEL void kern(int *out, int n) {
  struct hb h = {1, 2, 3, 4};
  out[0] = getfn(1)(2) + octet(1) + optr(2)[0] + gethb(h).a;
  out[1] = 3;
}
