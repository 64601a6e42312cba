#include "both.h"
#include "twin_rows.h"

static int tally = 1;
int second(int n);

static int bump(int by) {
  tally += by;
  return tally;
}

static int check(int v) { return twice(v) > 6 && bump(v) > 3; }

KERNEL void kern(int *out, int n) {
  out[0] = bump(2);
  out[1] = second(n);
  if (check(n) || bump(1)) out[2] = 1;
  int i = 0;
loop:
  out[3 + i] = check(i);
  if (++i < 3)
    goto loop;
  switch (n) {
    case 7: out[8] = 1;
    case 8: out[9] = 2; break;
    case 9: out[10] = 3;
  }
  SWAP(out[0], out[1]);
  for (i = 0, n = 3; i < n; i++, n--)
    ;
  out[11] = i;
}
