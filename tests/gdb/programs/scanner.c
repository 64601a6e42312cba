#include "both.h"
#include "scanner.h"

static int limit = 100;
static int table[5] = {5, 3, 8, 1, 9};
int errors_seen;
volatile int ticks;

/* Without debug information. */
__attribute__((nodebug, noinline)) int hidden(int value) {
  return value + 1;
}

static int check(int value) {
  if (value > limit) return -1;
  return value;
}

__attribute__((nodebug, noinline)) int hidden_caller(int value) {
  return rate(value) + 1;
}

static struct token next_token(const char *p) {
  struct token t;
  while (is_space(*p))
    p++;
  t.at = p;
  if (IS_DIGIT(*p)) {
    t.kind = 1;
    t.value = *p - '0';
    goto out;
  }
  switch (*p) {
  case 0:
    t.kind = 0;
    break;
  case '+':
  case '-':
    t.kind = 2;
    t.value = *p;
    break;
  default:
    t.kind = 3; t.value = -1;
  }
out:
  return t;
}

struct wide widen(int n) {
  struct wide w = {n, n + 1, n + 2, n + 3};
  return w;
}

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }

int evaluate(const char *text) {
  int result = 0;
  int (*op)(int, int) = add;
  for (;;) {
    struct token t = next_token(text);
    if (t.kind == 0)
      break;
    if (t.kind == 1)
      result = op(result, t.value);
    else if (t.kind == 2)
      op = t.value == '+' ? add : sub;
    else
      errors_seen++;
    text = t.at + 1;
  }
  return check(result);
}

int hanoi(int disks, int from, int to) {
  if (disks == 0)
    return 0;
  int via = 6 - from - to;
  int moved = hanoi(disks - 1, from, via);
  moved++;
  return moved + hanoi(disks - 1, via, to);
}

void sort(int *values, int count) {
  int swapped = 1;
  do {
    swapped = 0;
    for (int i = 0; i + 1 < count; i++)
      if (values[i] > values[i + 1]) {
        int spare = values[i];
        values[i] = values[i + 1];
        values[i + 1] = spare;
        swapped = 1;
      }
    ticks++;
  } while (swapped);
}

KERNEL void kern(int *out, int n) {
  out[0] = evaluate("3 + 4 - 2");
  out[1] = hanoi(3, 1, 3);
  sort(table, 5);
  out[2] = table[0]; out[3] = table[4];
  struct wide w = widen(n);
  out[4] = hidden(n);
  out[5] = hidden_caller(n);
  note(n);
  out[6] = check(n) + check(1000);

  out[7] = (int)w.d;
}
