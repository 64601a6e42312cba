#include "both.h"

/* A radio's frames: unions, bit-fields, flags, tables of functions, arrays of several dimensions. */
enum flags { F_NONE = 0, F_ACK = 1, F_SYN = 2, F_FIN = 4, F_URGENT = 0x40 };
enum level { LOW = -2, MID, HIGH = 10 };
enum { CHANNELS = 3, BINS = 4 };

typedef unsigned char byte;
typedef unsigned short word;

struct header {
  unsigned version : 3;
  unsigned urgent : 1;
  signed delta : 5;
  enum flags flags : 8;
  unsigned long long serial : 40;
};

union payload {
  byte raw[8];
  word words[4];
  unsigned dwords[2];
  float f;
  double d;
  struct {
    short x, y;
    int z;
  } point;
};

struct __attribute__((packed)) wire {
  byte tag;
  unsigned length;
  word crc;
};

typedef struct frame {
  struct header head;
  union payload body;
  struct wire wire;
  enum level level;
  union {
    int as_int;
    float as_float;
  };
  struct {
    char name[6];
    _Bool known;
  } station;
  const char *note;
  struct frame *next;
  int (*handler)(struct frame *, int);
} frame;

typedef int (*handler_t)(frame *, int);
typedef int row[BINS];

DEVICE int spectrum[CHANNELS][BINS] = {{1, 2, 3, 4}, {10, 20, 30, 40}, {-1, -2, -3, -4}};
DEVICE const char *const names[] = {"low", "mid", "high"};
DEVICE static short cube[2][2][3];
DEVICE volatile int interrupts;
DEVICE static double gains[CHANNELS] = {0.5, 1.25, -3};
DEVICE unsigned long long ticks = 0x123456789abcdef0ull;
DEVICE char banner[] = "radio\tv1\n";

DEVICE static int on_ack(frame *f, int amount) {
  f->head.flags |= F_ACK;
  interrupts += amount;
  return f->head.delta;
}

DEVICE static int on_data(frame *f, int amount) {
  f->body.point.x += amount;
  return f->body.point.x * 2;
}

DEVICE handler_t handlers[] = {on_ack, on_data, 0};

DEVICE static int sum_rows(int rows, int columns, int m[rows][columns]) {
  int totals[rows];
  int all = 0;
  for (int r = 0; r < rows; r++) {
    totals[r] = 0;
    for (int c = 0; c < columns; c++)
      totals[r] += m[r][c];
    all += totals[r];
  }
  return all;
}

DEVICE static struct header make_header(int n) {
  struct header h = {5, 1, -3, F_SYN | F_FIN, 0x1234567890ull};
  h.delta += n & 1;
  return h;
}

DEVICE static union payload pack(float f) {
  union payload p;
  p.d = 0;
  p.f = f;
  return p;
}

DEVICE static double gain_of(enum level level) {
  switch (level) {
  case LOW:
    return gains[0];
  case MID:
    return gains[1];
  default:
    return gains[2];
  }
}

DEVICE static frame first, second;

KERNEL void kern(int *out, int n) {
  frame *f = &first;
  row *rows = spectrum;
  f->head = make_header(n);
  f->body = pack(1.5f);
  f->wire.tag = 'w';
  f->wire.length = 0x01020304;
  f->wire.crc = 0xbeef;
  f->level = MID;
  f->as_float = 2.0f;
  f->station.name[0] = 'K';
  f->station.name[1] = '1';
  f->station.known = 1;
  f->note = names[2];
  f->next = &second;
  second.next = f;
  for (int i = 0; handlers[i]; i++) {
    f->handler = handlers[i];
    out[i] = f->handler(f, n);
  }
  cube[1][0][2] = n;
  out[2] = sum_rows(CHANNELS, BINS, spectrum);
  out[3] = (int)gain_of(f->level);
  out[4] = rows[1][2] + cube[1][0][2] + banner[0] + (int)ticks;
}
