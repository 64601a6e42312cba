#include "both.h"

typedef enum { IDLE, RUNNING = 10, WAITING, DONE = -1 } state_t;
struct machine;
typedef int (*handler)(struct machine *, int);

struct machine {
  state_t state;
  int steps;
  handler handlers[3];
  struct {
    unsigned ready : 1;
    unsigned level : 4;
    unsigned : 3;
    unsigned code : 8;
  } status;
  union {
    struct { int from, to; } move;
    long packed;
  } last;
};

static int on_idle(struct machine *m, int input) {
  m->state = RUNNING;
  m->status.ready = 1;
  return input;
}

static int on_running(struct machine *m, int input) {
  m->status.level += input;
  if (m->status.level > 5)
    m->state = WAITING;
  return input * 2;
}

static int on_waiting(struct machine *m, int input) {
  m->state = DONE;
  m->status.code = 0x5a;
  return input * 3;
}

static struct machine machine = {IDLE, 0, {on_idle, on_running, on_waiting}, {0}, {{0}}};

static int dispatch(struct machine *m, int input) {
  int before = m->state, result = 0;
  switch (m->state) {
  case IDLE:
    result = m->handlers[0](m, input);
    break;
  case RUNNING:
    result = m->handlers[1](m, input);
    break;
  case WAITING:
    result = m->handlers[2](m, input);
    break;
  case DONE:
    return -1;
  }
  m->last.move.from = before;
  m->last.move.to = m->state;
  m->steps++;
  return result;
}

KERNEL void kern(int *out, int n) {
  int input, sum = 0;
  for (input = 1; input <= n; input++) {
    int got = dispatch(&machine, input);
    if (got < 0)
      goto finished;
    sum += got;
  }
finished:
  out[0] = sum;
  out[1] = machine.steps;
}
