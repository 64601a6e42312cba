/* A helper that every unit has for itself. */
#ifndef SCANNER_H
#define SCANNER_H

#define IS_DIGIT(c) ((c) >= '0' && (c) <= '9')
#define ADVANCE(p) do { (p)++; steps++; } while (0)

static int steps;

static int is_space(int c) {
  steps++;
  return c == ' ' || c == '\t';
}

struct token { int kind; int value; const char *at; };
struct wide { long a, b, c, d; };

int evaluate(const char *text);
int rate(int value);
void note(int value);

#endif
