/* A protocol's packets: unions in unions, bit-fields, anonymous members, flexible arrays, chains of typedefs. */
#include "both.h"

typedef unsigned char byte;
typedef byte octet_t;
typedef octet_t wire_t[6];
typedef const volatile octet_t port_t;
typedef signed char tiny;
typedef long long ticks_t;
typedef _Bool flag_t;

enum kind { K_NONE, K_DATA = 0x10, K_ACK = 0x20, K_RESET = 0x40, K_ALL = K_DATA | K_ACK | K_RESET };
enum level { LOW = -2, MIDDLE = 0, HIGH = 5 };
typedef enum { RED = 1, GREEN = 2, BLUE = 4 } colour_t;
enum { ANONYMOUS_LIMIT = 12, ANONYMOUS_STEP };

struct header {
  unsigned version : 4, : 4;
  enum kind kind : 8;
  signed short delta : 7;
  flag_t urgent : 1;
  unsigned long long stamp : 50;
  int : 0;
  byte tail : 3;
};

union address {
  struct {
    byte a, b, c, d;
  };
  byte bytes[4];
  unsigned int whole;
  union {
    short halves[2];
    struct {
      short low;
      unsigned short high;
    } parts;
  } view;
};

struct packet {
  struct header header;
  union address source, target;
  union {
    int number;
    float real;
    struct {
      char letter;
      tiny step;
    };
  };
  struct {
    colour_t colour;
    enum level level;
  } look;
  wire_t wire;
  const struct packet *reply;
};

struct blob {
  unsigned short length;
  char kind;
  int data[];
};

struct table;
typedef int (*handler_t)(struct table *, const struct packet *, int);
typedef int handler_fn(struct table *, const struct packet *, int);
typedef handler_t handlers_t[3];

struct table {
  handlers_t handlers;
  handler_t (*select)(struct table *, enum kind);
  int (*const *fixed)(void);
  int hits[3];
  void *owner;
};

struct __attribute__((packed)) squeezed {
  char tag;
  double value;
  short rest;
};

struct aligned_pair {
  char first;
  int second __attribute__((aligned(16)));
};

struct tree {
  struct tree *child[2];
  union {
    long weight;
    const char *label;
  } *extra;
  double _Complex phase;
};

DEVICE struct packet packets[3];
DEVICE static struct table dispatcher;
DEVICE port_t control = 0x9c;
DEVICE const char *const volatile banner = "hello, wire";
DEVICE int grid3[2][3][4] = {{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, {{-1, -2}, {0}, {-9, -9, -9, -9}}};
DEVICE static struct {
  int data;
  struct blob blob;
  int room[4];
} storage = {0, {0}, {31, 32, 33, 34}};
DEVICE float _Complex spin = 1.5f;
DEVICE ticks_t ticks = 81985529216486895LL;
DEVICE unsigned long long big = ~0ULL;

static int on_data(struct table *table, const struct packet *packet, int extra) {
  table->hits[0]++;
  return packet->number + extra;
}

static int on_ack(struct table *table, const struct packet *packet, int extra) {
  table->hits[1] += 2;
  return packet->header.delta * extra;
}

int on_reset(struct table *table, const struct packet *packet, int extra) {
  table->hits[2] = 0;
  return (int)packet->look.level;
}

static handler_t choose(struct table *table, enum kind kind) {
  return table->handlers[kind >> 5];
}

static int seven(void) { return 7; }
static int nine(void) { return 9; }
DEVICE static int (*const constants[])(void) = {seven, nine};

union address make_address(byte a, byte b, byte c, byte d) {
  union address made = {{a, b, c, d}};
  return made;
}

static struct header next_header(struct header old, int by) {
  old.stamp += by;
  old.delta = -old.delta;
  return old;
}

static long sum_rows(int rows, int columns, int table[rows][columns]) {
  long sum = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      sum += table[i][j];
  return sum; /* all of it */
}

static int work(int *out, int n) {
  int square[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  struct squeezed squeezed = {'q', 2.25, -3};
  struct aligned_pair pair = {'p', 77};
  struct tree leaf = {{0, 0}, 0, 2.0 + 0.5 * n}, root = {{&leaf, 0}, 0, 1.0};
  handler_t handler = dispatcher.select(&dispatcher, K_ACK);
  handler_fn *plain = on_reset;
  int (*rows)[3] = square;
  int *cells[2] = {&square[0][1], &square[2][2]};
  colour_t mixed = (colour_t)(RED | BLUE), strange = (colour_t)9;
  enum kind kinds[] = {K_NONE, K_ALL, (enum kind)3, (enum kind)(K_ACK | 1)};
  struct blob *blob = &storage.blob;
  const octet_t *walk = packets[0].wire;
  struct header header = next_header(packets[1].header, n);
  flag_t yes = n > 2, no = 0;
  packets[2].reply = &packets[0];
  long total = sum_rows(3, 3, square);
  out[1] = handler(&dispatcher, &packets[1], 3) + plain(&dispatcher, &packets[0], 0);
  out[2] = (int)total + rows[1][1] + *cells[1] + blob->data[0] + header.tail;
  return out[1] + out[2] + yes - no; /* stop here */
}

KERNEL void kern(int *out, int n) {
  for (int i = 0; i < 3; i++) {
    struct packet *p = &packets[i];
    p->header.version = 4 + i;
    p->header.kind = i == 1 ? K_ACK : (enum kind)(K_DATA | K_RESET);
    p->header.delta = -3 - i;
    p->header.urgent = i & 1;
    p->header.stamp = 1125899906842000ULL + i;
    p->header.tail = 5;
    p->source = make_address(10, 0, (byte)i, 1);
    p->target = make_address(192, 168, 'A', 'z');
    p->number = 1078530011 + i;
    p->look.colour = i ? (colour_t)(GREEN | BLUE) : RED;
    p->look.level = i == 2 ? HIGH : LOW;
    for (int j = 0; j < 6; j++)
      p->wire[j] = (byte)(j * 40 + i);
  }
  dispatcher.handlers[0] = on_data;
  dispatcher.handlers[1] = on_ack;
  dispatcher.handlers[2] = on_reset;
  dispatcher.select = choose;
  dispatcher.fixed = constants;
  dispatcher.owner = packets;
  storage.blob.length = 1;
  storage.blob.kind = 'b';
  out[0] = work(out, n);
}
