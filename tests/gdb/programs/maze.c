#include "both.h"

/* A walk through a maze: labels, do loops, static variables, recursion, early exits. */
#define WIDTH 6
#define HEIGHT 5
#define AT(x, y) maze[(y) * WIDTH + (x)]

typedef struct {
  int x, y;
} spot;

DEVICE char maze[] = "######"
                     "#S.#.#"
                     "#.#..#"
                     "#...E#"
                     "######";
DEVICE static int visits;
DEVICE int deepest = -1;

DEVICE static int is_wall(int x, int y) {
  return AT(x, y) == '#';
}

DEVICE static spot find(char what) {
  spot s;
  for (s.y = 0; s.y < HEIGHT; s.y++) {
    for (s.x = 0; s.x < WIDTH; s.x++) {
      if (AT(s.x, s.y) == what)
        goto found;
    }
  }
  s.x = s.y = -1;
found:
  return s;
}

DEVICE int walk(spot at, int depth) {
  static int calls = 0;
  static const int steps[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  calls++;
  if (depth > deepest)
    deepest = depth;
  if (AT(at.x, at.y) == 'E')
    return depth;
  AT(at.x, at.y) = '*';
  visits++;
  for (int i = 0; i < 4; i++) {
    spot to = {at.x + steps[i][0], at.y + steps[i][1]};
    if (is_wall(to.x, to.y) || AT(to.x, to.y) == '*')
      continue;
    int found = walk(to, depth + 1);
    if (found >= 0)
      return found;
  }
  return -1;
}

DEVICE static long checksum(const char *text) {
  long sum = 0;
  int i = 0;
  do {
    sum = sum * 31 + text[i];
    i++;
  } while (text[i]);
  return sum;
}

DEVICE static float ratio(int a, int b) {
  if (b == 0)
    return 0;
  float r = (float)a / b;
  return r;
}

KERNEL void kern(int *out, int n) {
  spot start = find('S');
  spot end = find('E');
  spot none = find('?');
  int length = walk(start, 0);
  long sum = checksum("maze");
  float share = ratio(visits, WIDTH * HEIGHT);
  while (n > 0) {
    if (n == 3)
      goto out_of_here;
    n--;
  }
out_of_here:
  out[0] = length;
  out[1] = (int)sum;
  out[2] = start.x + end.x + none.x;
  out[3] = (int)(share * 100);
}
