#include "both.h"

// A long file, so that listing has something to do.
namespace chain {

struct Link {
  int value;
  Link *next;

  Link(int v, Link *n)
      : value(v), next(n) {}

  int length() const {
    int count = 0;
    for (const Link *at = this; at; at = at->next)
      count++;
    return count;
  }

  static Link *reversed(Link *from) {
    Link *result = nullptr;
    while (from) {
      Link *rest = from->next;
      from->next = result;
      result = from;
      from = rest;
    }
    return result;
  }
};

int sum(const Link *from) {
  if (!from)
    return 0;
  return from->value + sum(from->next);
}

} // namespace chain

int overloaded(int v) { return v; }

int overloaded(float v) { return (int)(v * 2); }

int overloaded(int v, int w) {
  return v + w;
}

struct Overloads {
  int get() { return 1; }
  int get(int v) {
    return v;
  }
};

static int local_helper(int v) {
  return v ^ 1;
}

KERNEL void kern(int *out, int n) {
  chain::Link third(3, nullptr);
  chain::Link second(2, &third);
  chain::Link first(1, &second);
  int before = chain::sum(&first);
  chain::Link *head = chain::Link::reversed(&first);
  int length = head->length();
  Overloads overloads;
  int calls = overloaded(1) + overloaded(2.5f) + overloaded(3, 4);
  calls += overloads.get() + overloads.get(n) + local_helper(n);
  out[0] = before;
  out[1] = length;
  out[2] = calls;
}
