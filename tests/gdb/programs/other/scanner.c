#include "../scanner.h"

static int limit = 50;
static long total;

static int check(int value) {
  if (value < 0)
    return 0;
  return value < limit ? value : limit;
}

int rate(int value) {
  int checked = check(value * 10);
  return checked / 2;
}

void note(int value)
{
  if (is_space(' '))
    total += value;
  ADVANCE(value);
  total += evaluate("9-1");
}
