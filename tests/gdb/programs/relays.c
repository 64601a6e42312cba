#include "both.h"

/* Packets through a chain of filters; errors leave by goto. */
struct packet { int id; unsigned char kind; short size; int parts[3]; };
struct filter { const char *name; int (*apply)(struct packet *, int); int passed; };

static int dropped;
static int seen[4];

static int grow(struct packet *p, int by) {
  p->size += by;
  return p->size < 50;
}

static int split(struct packet *p, int by) {
  int left = p->size, i = 0;
  while (left > 0 && i < 3) {
    int part = left > by ? by : left;
    p->parts[i++] = part;
    left -= part;
  }
  return left == 0;
}

static int count(struct packet *p, int by) { seen[p->kind & 3] += by; return 1; }

static struct filter chain[] = {{"grow", grow, 0}, {"split", split, 0}, {"count", count, 0}};

static int pass_on(struct packet *p) {
  int status = 0;
  struct filter *f = chain;
  for (; f < chain + 3; f++) {
    if (!f->apply(p, 8))
      goto fail;
    f->passed++;
  }
  status = p->size;
done:
  return status;
fail:
  dropped++;
  status = -1;
  goto done;
}

static int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static unsigned scramble(unsigned x) {
  unsigned r = 0;
  for (int bit = 0; bit < 32; bit += 8)
    r = r << 8 | (x >> bit & 255);
  return r;
}

KERNEL void kern(int *out, int n) {
  struct packet packets[4];
  for (int i = 0; i < 4; i++) {
    packets[i].id = 100 + i;
    packets[i].kind = i * 3;
    packets[i].size = i * i * 5;
  }
  int total = 0;
  for (int i = 0; i < 4; i++) {
    int r = pass_on(&packets[i]);
    if (r < 0) continue;
    total += r;
  }
  out[0] = total;
  out[1] = dropped;
  out[2] = ackermann(2, 1);
  out[3] = (int)scramble(n * 0x01020304u);
  do { n -= 2; } while (n > 0);
  out[4] = n;
}
