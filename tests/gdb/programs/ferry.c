#include "both.h"

#define CAPACITY 4
#define MAX(a, b) ((a) > (b) ? (a) : (b))

enum kind { CAR, TRUCK, CYCLE };

struct load {
  enum kind kind;
  unsigned weight : 12;
  unsigned paid : 1;
  char plate[6];
};

struct deck {
  struct load loads[CAPACITY];
  int count;
  int (*check)(const struct load *);
};

static int trips;
int log_size;
static int log_lines[16];

static void log_line(int what) {
  log_lines[log_size & 15] = what;
  log_size++;
}

static int heavy(const struct load *l) { return l->weight > 1000; }

static int always(const struct load *l)
{
  (void)l;
  return 1;
}

static int price(enum kind kind) {
  switch (kind) {
    case CAR:
      return 20;
    case TRUCK: {
      int base = 50;
      return base + 10;
    }
    case CYCLE:
      return 5;
  }
  return -1;
}

int board(struct deck *d, enum kind kind, int weight) {
  int place = d->count;
  if (place >= CAPACITY) {
    log_line(-1);
    return 0;
  }
  struct load *l = &d->loads[place];
  l->kind = kind;
  l->weight = weight;
  for (int i = 0; i < 5; i++) l->plate[i] = 'A' + i + place;
  l->plate[5] = 0;
  d->count++;
  log_line(weight);
  return 1;
}

int charge_all(struct deck *d) {
  int sum = 0;
  int i = 0;
  while (i < d->count) {
    struct load *l = d->loads + i;
    if (d->check(l))
      sum += 2 * price(l->kind);
    else
      sum += price(l->kind);
    l->paid = 1;
    i++;
  }
  return sum;
}

long triangle(int n) {
  if (n <= 0)
    return 0;
  long below = triangle(n - 1);
  return below + n;
}

int spiral(int a, int b, int depth) {
  int c = a + b;
  if (depth == 0)
    return c;
  int d = spiral(b, c, depth - 1);
  return d - a;
}

void cross(struct deck *d, int *out) {
  trips++;
  out[trips] = charge_all(d);
  d->check = trips % 2 ? always : heavy;
  d->count = 0;
}

KERNEL void kern(int *out, int n) {
  struct deck deck = {{{CAR, 0, 0, ""}}, 0, heavy};
  board(&deck, CAR, 900);
  board(&deck, TRUCK, 3000);
  board(&deck, CYCLE, 15);
  cross(&deck, out);
  for (int i = 0; i < 5; i++)
    board(&deck, i % 3, 100 * i);
  cross(&deck, out);
  out[4] = (int)triangle(4);
  out[5] = spiral(1, 2, 3);
  out[6] = MAX(n, log_size);
  int left = CAPACITY;
  while (left-- > 0)
    out[7] += left;
  out[8] = trips;
  out[9] = log_lines[0];
}
