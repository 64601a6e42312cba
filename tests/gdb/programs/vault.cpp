#include "both.h"

enum Phase { IDLE, OPENING, OPEN = 5, CLOSED };
struct Stamp { int when; short who; };
struct Slot { Stamp stamp; long value; Slot *next; unsigned char tag[3]; double rate; };
struct Shape { int sides; DEVICE Shape(int s) : sides(s) {} };
struct Square : Shape {
  int edge;
  bool flat : 1;
  unsigned hue : 7;
  DEVICE Square(int e) : Shape(4), edge(e), flat(false), hue(3) {}
  DEVICE int area() { int result = edge * edge; edge++; return result; }
  DEVICE void paint(unsigned by) { hue += by; flat = !flat; sides += by; }
};
union Either { float real; int whole; struct { unsigned char low, high; } part; };

static DEVICE Slot pool[4];
static DEVICE int used, steps, history[6];
static DEVICE Phase phase;
static DEVICE char label[8] = "vault";
static DEVICE Either either;
static DEVICE unsigned long long mask = 1;
static DEVICE short deltas[2][2][2];
static DEVICE int *cursor;

static DEVICE Slot *take(int value) {
  Slot *slot = &pool[used++ & 3];
  slot->value = value;
  slot->stamp.when = steps;
  slot->stamp.who = (short)value;
  return slot;
}
static DEVICE int gcd(int a, int b) {
  int rest = a % b;
  steps++;
  if (rest == 0) return b;
  int answer = gcd(b, rest);
  return answer;
}
static DEVICE void swap(int &left, int &right) {
  int kept = left;
  left = right;
  right = kept;
}
static DEVICE void sort(int *what, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j + 1 < count - i; j++)
      if (what[j] > what[j + 1]) swap(what[j], what[j + 1]);
}
static DEVICE long chain_up() {
  Slot *list = 0;
  long sum = 0;
  for (int i = 1; i < 4; i++) {
    Slot *slot = take(i * 11);
    slot->next = list;
    list = slot;
  }
  while (list) {
    sum += list->value;
    list = list->next;
  }
  return sum;
}
static DEVICE void turn() {
  phase = OPENING;
  phase = OPEN;
  phase = OPEN;
  phase = CLOSED;
  label[0] = 'V';
  label[4] = 't';
  label[5] = '!';
  either.real = 2.5f;
  either.whole = 7;
  either.part.high = 1;
  mask <<= 5;
  mask |= 3;
  mask = ~mask;
}
static DEVICE int inner(int n) {
  int local = n;
  {
    int local = n * 2;
    local += 3;
    n = local;
  }
  local -= n;
  for (int local = 0; local < 2; local++)
    n += local;
  return local + n;
}
static DEVICE int squares() {
  Square square(3);
  int total = 0;
  total += square.area();
  square.paint(9);
  total += square.area();
  Square *other = &square;
  other->sides = 5;
  other->edge = 5;
  return total + other->edge;
}
static DEVICE void wander() {
  cursor = &history[0];
  *cursor = 5;
  cursor++;
  *cursor = 6;
  cursor += 2;
  *cursor = 5;
  history[1] = 9;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 2; k++)
        deltas[i][j][k] = (short)(i * 4 + j * 2 + k - 3);
}

KERNEL void kern(int *out, int n) {
  int values[5] = {4, 1, 5, 2, 3};
  sort(values, 5);
  int common = gcd(48, 36 + n - 7);
  long linked = chain_up();
  turn();
  int odd = inner(n);
  int painted = squares();
  wander();
  out[0] = common + (int)linked;
  out[1] = odd + painted + values[0];
}
