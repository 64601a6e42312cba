#include "both.h"

#define SLOTS 6
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

typedef unsigned short quantity;
typedef enum { EMPTY, RAW = 3, MIXED, DONE = 10 } state_t;
enum access { A_READ = 1, A_WRITE = 2, A_ADMIN = 8 };

struct stamp {
  unsigned day : 5;
  unsigned month : 4;
  unsigned year : 12;
  signed int zone : 5;
  unsigned valid : 1;
};

typedef union {
  int number;
  float ratio;
  char code[4];
} payload;

struct item;
typedef int (*rule_fn)(const struct item *item, int factor);

struct item {
  char name[12];
  quantity count;
  state_t state;
  struct stamp made;
  payload data;
  rule_fn rule;
  struct item *next;
};

typedef struct shelf {
  struct item items[SLOTS];
  struct item *head;
  int used;
  double weights[2][3];
  enum access rights;
} shelf_t;

DEVICE static shelf_t shelf;
DEVICE int total_moves = 0;
DEVICE const char *const titles[] = {"alpha", "beta", "gamma", "delta", 0};
DEVICE volatile unsigned char status_byte = 0xa5;

static int by_count(const struct item *item, int factor) {
  return item->count * factor;
}

static int by_state(const struct item *item, int factor) {
  int base = item->state;
  return base * 100 + factor;
}

static int length_of(const char *text) {
  int n = 0;
  while (text[n] != 0)
    n++;
  return n;
}

static void copy_text(char *to, const char *from, int limit) {
  int i;
  for (i = 0; i < limit - 1 && from[i]; i++)
    to[i] = from[i];
  to[i] = 0;
}

struct item *add_item(shelf_t *where, const char *name, quantity count) {
  struct item *item = &where->items[where->used++];
  copy_text(item->name, name, sizeof item->name);
  item->count = count;
  item->state = count > 5 ? MIXED : RAW;
  item->made.day = 17;
  item->made.month = count % 12;
  item->made.year = 2024;
  item->made.zone = -3;
  item->made.valid = 1;
  item->data.ratio = count * 0.25f;
  item->rule = count & 1 ? by_count : by_state;
  item->next = where->head;
  where->head = item;
  return item;
}

int apply_rules(shelf_t *where, int factor) {
  int sum = 0;
  for (struct item *item = where->head; item; item = item->next) {
    int part = item->rule(item, factor);
    sum += part;
  }
  return sum;
}

static payload make_payload(int number) {
  payload made;
  made.number = number;
  return made;
}

static struct stamp tomorrow(struct stamp today) {
  today.day++;
  return today;
}

int countdown(int from) {
  int left = from;
  while (left > 0) {
    if (left == 3)
      total_moves += 10;
    left--;
  }
  return total_moves;
}

int nested(int depth) {
  static int calls;
  int mine = depth * 2;
  calls++;
  if (depth == 0)
    return calls;
  mine += nested(depth - 1);
  return mine;
}

KERNEL void kern(int *out, int n) {
  int i;
  for (i = 0; i < 4; i++) {
    struct item *added = add_item(&shelf, titles[i], (quantity)(i * n));
    added->data.code[3] = 'z';
  }
  shelf.rights = (enum access)(A_READ | A_ADMIN);
  shelf.weights[1][2] = 1.5;
  out[0] = apply_rules(&shelf, 2);
  payload p = make_payload(0x41424344);
  struct stamp later = tomorrow(shelf.items[0].made);
  out[1] = p.number + later.day;
  out[2] = countdown(5);
  {
    int i = nested(3);
    char letters[8] = "shadow";
    out[3] = i + letters[1];
  }
  out[4] = length_of(shelf.items[2].name);
  out[5] = total_moves;
}
