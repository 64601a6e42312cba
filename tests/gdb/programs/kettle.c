#include "both.h"
#include "kettle.h"

int total = 0;
static int alarms;
static int history[6];

static int log_change(int amount) {
  static int calls;
  calls++;
  history[calls % 6] = amount;
  return calls;
}

static int alarm(int amount) { alarms += amount; return alarms; }

/* A comment of several lines,
   in which no code is,
   so that a breakpoint here moves on. */

int heat(struct kettle *k, int by) {
  k->degrees += by;
  if (k->degrees > 100) {
    k->degrees = 100;
    k->mode = BOIL;
  }
  return k->on_change(by);
}

int gcd(int a, int b)
{
  while (b != 0)
  {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

unsigned power(unsigned base, unsigned exponent) {
  if (exponent == 0) return 1;
  unsigned half = power(base, exponent / 2);
  half *= half;
  if (exponent & 1)
    half *= base;
  return half;
}

int is_even(int n);
int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }

double mean(const int *values, int count) {
  double sum = 0;
  int i = 0;
  while (1) {
    if (i == count)
      break;
    if (values[i] < 0) {
      i++;
      continue;
    }
    sum += values[i++];
  }
  return count ? sum / count : 0;
}

union reading measure(int degrees) {
  union reading r;
  r.raw = 0;
  r.parts.low = degrees;
  r.parts.high = degrees >> 4;
  return r;
}

void reset(struct kettle *k) {
  k->degrees = 20; k->mode = OFF;
}

KERNEL void kern(int *out, int n) {
  struct kettle second = {OFF, 30, alarm, 0};
  struct kettle first = {WARM, 20, log_change, &second};
  struct kettle *k;
  for (k = &first; k; k = k->next)
    out[0] += heat(k, n * 5);
  out[1] = gcd(48, 18);
  out[2] = power(3, 5);
  out[3] = is_even(4);
  out[4] = (int)mean(history, 6);
  union reading r = measure(37);
  out[5] = r.raw;
  out[6] = lid_open(&first) + lid_close(&second, 1);
  reset(&first);
  out[7] = clip(n, 5) + clip(2, 5);
  total = first.degrees + second.degrees;
  if (n > 100)
    goto end;
  for (int i = 0; i < 10; i++) {
    total += i;
    if (total > 150)
      break;
  }
end:
  out[8] = total;
  out[9] = alarms;
}
