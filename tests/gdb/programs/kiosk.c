#include "both.h"

/* Orders go through stations; each station is a small state machine. */
enum stage { NEW, PAID, COOKED, SERVED, LOST };
typedef struct order { int number, price; enum stage stage; struct order *next; } order_t;
struct kiosk { order_t *head; int served; long earned; };

static order_t pool[5];
static int used, tired = 2;

static order_t *take(struct kiosk *k, int price) {
  order_t *o = &pool[used++];
  o->number = used;
  o->price = price;
  o->stage = NEW;
  o->next = k->head;
  return k->head = o;
}

static int move_on(struct kiosk *k, order_t *o) {
  static int calls;
  calls++;
  switch (o->stage) {
  case NEW:
    if (o->price > 50) { o->stage = LOST; return 0; }
    o->stage = PAID;
    k->earned += o->price;
    break;
  case PAID: o->stage = COOKED; break;
  case COOKED:
    if (--tired < 0)
      goto rest;
    o->stage = SERVED;
    k->served++;
  default:
    return 0;
  }
  return 1;
rest:
  tired = 2;
  return 1;
}

static int work(struct kiosk *k) {
  int moves = 0, again;
  do {
    again = 0;
    for (order_t *o = k->head; o; o = o->next) {
      while (move_on(k, o)) moves++, again = 1;
      if (o->stage == LOST) continue;
    }
  } while (again);
  return moves;
}

static int digits(int n) { return n < 10 ? 1 : 1 + digits(n / 10); }

KERNEL void kern(int *out, int n) {
  struct kiosk kiosk = {0, 0, 0};
  for (int i = 0; i < 4; i++)
    take(&kiosk, i * 20 + n);
  out[0] = work(&kiosk);
  out[1] = kiosk.served; out[2] = (int)kiosk.earned;
  out[3] = digits(out[2] * 1000);
  for (order_t *o = kiosk.head; o; o = o->next) out[4] += o->number * o->stage;
}
