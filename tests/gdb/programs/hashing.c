#include "both.h"

#define SLOTS 8
#define HASH(x) ((x) * 2654435761u)

typedef struct entry entry;
struct entry {
  unsigned key;
  int value;
  entry *next;
};

typedef struct table {
  entry *slots[SLOTS];
  entry pool[12];
  unsigned used;
  unsigned collisions;
} table;

typedef int (*visitor)(const entry *, void *);

DEVICE static table map;
DEVICE int lookups;
DEVICE static int misses = 0;

DEVICE static unsigned slot_of(unsigned key) {
  unsigned h = HASH(key);
  h ^= h >> 15;
  return h % SLOTS;
}

DEVICE entry *find_entry(table *t, unsigned key) {
  static int calls;
  calls++;
  lookups++;
  for (entry *e = t->slots[slot_of(key)]; e; e = e->next)
    if (e->key == key)
      return e;
  misses++;
  return 0;
}

DEVICE entry *insert(table *t, unsigned key, int value) {
  entry *e = find_entry(t, key);
  if (e) {
    e->value = value;
    return e;
  }
  unsigned s = slot_of(key);
  e = &t->pool[t->used++];
  if (t->slots[s])
    t->collisions++;
  e->key = key;
  e->value = value;
  e->next = t->slots[s];
  t->slots[s] = e;
  return e;
}

DEVICE int walk(const table *t, visitor visit, void *data) {
  int visited = 0;
  for (int i = 0; i < SLOTS; i++) {
    const entry *e = t->slots[i];
    while (e) {
      visited += visit(e, data);
      e = e->next;
    }
  }
  return visited;
}

DEVICE static int add_value(const entry *e, void *data) {
  long *sum = data;
  *sum += e->value;
  return 1;
}

DEVICE static int is_even(const entry *e, void *data) {
  (void)data;
  return e->value % 2 == 0;
}

KERNEL void kern(int *out, int n) {
  long sum = 0;
  for (unsigned k = 0; k < 9; k++)
    insert(&map, k * 7 + 3, (int)k * n);
  entry *hit = find_entry(&map, 10);
  entry *none = find_entry(&map, 11);
  int visited = walk(&map, add_value, &sum);
  int even = walk(&map, is_even, 0);
  out[0] = visited + even;
  out[1] = (int)sum;
  out[2] = hit ? hit->value : -1;
  out[3] = none == 0;
}
