#include "both.h"

struct point { int x, y; };

struct flags {
  unsigned on : 1;
  int level : 5;
  unsigned code : 10;
};

struct box {
  struct point low, high;
  struct flags flags;
  float weight;
  char name[4];
};

struct node {
  int value;
  struct node *next;
};

union cell {
  int number;
  float real;
  unsigned char bytes[4];
};

static int total, limit = 20, calls;
static unsigned char narrow = 254;
static long wide = -1;
static double exact;
static int table[8];
static int grid[2][3];
static struct box box = {{1, 2}, {3, 4}, {0, -1, 5}, 1.5f, "ab"};
static struct node nodes[3] = {{10, 0}, {20, 0}, {30, 0}};
static struct node *head;
static union cell cell;

static int square(int value) {
  int result = value * value;
  calls++;
  return result;
}

static int factorial(int k) {
  int below = 1, product;
  if (k > 1)
    below = factorial(k - 1);
  product = k * below;
  return product;
}

static void fill(int count) {
  int last = 0;
  for (int i = 0; i < count; i++) {
    last = square(i);
    table[i] = last;
  }
  total = last;
}

static int add_up(int count) {
  int sum = 0;
  for (int i = 0; i < count; i++)
    sum += table[i];
  return sum;
}

static void move(struct point *point, int by) {
  point->x += by;
  point->y -= by;
}

static void raise(struct box *which) {
  which->flags.on = 1;
  which->flags.level = 7;
  which->flags.code += 3;
  which->flags.level = 7;
  which->weight *= 2;
  which->name[1] = 'z';
}

static void chain(void) {
  for (int i = 0; i < 3; i++) {
    nodes[i].next = head;
    head = &nodes[i];
  }
  head->value++;
  head->next->value += 5;
  head = head->next;
  head->value = 0;
}

static void widen(void) {
  narrow++;
  narrow++;
  wide += 2;
  wide = wide << 40;
  exact = wide;
  exact /= 3;
  cell.real = 1.0f;
  cell.bytes[0] = 1;
  cell.number = 65;
}

static void spread(int n) {
  for (int row = 0; row < 2; row++)
    for (int column = 0; column < 3; column++)
      grid[row][column] = n * row + column;
}

static int outer(int depth) {
  int here = depth, *place = &here;
  struct point spot = {depth, -depth};
  move(&spot, 2);
  *place += spot.x;
  {
    int inner = here;
    inner += square(depth);
    here = inner;
  }
  total = limit - here;
  return here;
}

KERNEL void kern(int *out, int n) {
  fill(4);
  int first = add_up(4);
  int second = factorial(4);
  move(&box.low, 3);
  raise(&box);
  chain();
  widen();
  spread(n);
  total = outer(3) + first;
  total += second;
  out[0] = total;
  out[1] = calls;
}
