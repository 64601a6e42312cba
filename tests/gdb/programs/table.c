#include "both.h"

#define SLOTS 8

struct entry {
  unsigned key;
  int value;
  struct entry *chain;
};

struct table {
  struct entry *slots[SLOTS];
  struct entry pool[16];
  int used;
  struct { unsigned long lookups, misses; } stats;
};

static struct table shared;

static unsigned hash(unsigned key) {
  unsigned h = key * 2654435761u;
  h ^= h >> 15;
  return h % SLOTS;
}

static struct entry *lookup(struct table *t, unsigned key) {
  struct entry *e = t->slots[hash(key)];
  t->stats.lookups++;
  while (e) {
    if (e->key == key)
      return e;
    e = e->chain;
  }
  t->stats.misses++;
  return 0;
}

static void insert(struct table *t, unsigned key, int value) {
  struct entry *e = lookup(t, key);
  if (!e) {
    unsigned slot = hash(key);
    e = &t->pool[t->used++];
    e->key = key;
    e->chain = t->slots[slot];
    t->slots[slot] = e;
  }
  e->value = value;
}

static int total(const struct table *t) {
  int sum = 0;
  for (int i = 0; i < t->used; i++)
    sum += t->pool[i].value;
  return sum;
}

KERNEL void kern(int *out, int n) {
  int i;
  for (i = 0; i < n; i++)
    insert(&shared, i * 3, i * i);
  insert(&shared, 3, 100);
  struct entry *found = lookup(&shared, 6);
  struct entry *missing = lookup(&shared, 7);
  out[0] = found ? found->value : -1;
  out[1] = missing ? missing->value : -1;
  out[2] = total(&shared);
}
