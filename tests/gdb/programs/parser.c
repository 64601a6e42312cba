#include "both.h"

#define DEPTH 16

typedef enum token_kind { END, NUMBER, PLUS, MINUS, STAR, OPEN, CLOSE, BAD = 99 } token_kind;

struct token {
  token_kind kind;
  union {
    long number;
    char op;
    unsigned char raw[8];
  };
  unsigned line : 12;
  unsigned column : 10;
  signed int balance : 5;
  unsigned last : 1;
};

typedef struct lexer {
  const char *text;
  int at;
  struct token now;
} lexer;

typedef long (*binary)(long, long);

struct rule {
  const char *name;
  char symbol;
  binary apply;
  int priority;
};

DEVICE static long plus(long a, long b) { return a + b; }
DEVICE static long minus(long a, long b) { return a - b; }
DEVICE static long times(long a, long b) { return a * b; }

DEVICE struct rule rules[3] = {
    {"plus", '+', plus, 1},
    {"minus", '-', minus, 1},
    {"times", '*', times, 2},
};
DEVICE long stack[DEPTH];
DEVICE int top = -1;
DEVICE const char formula[] = "12+3*(4-1)\n\t\"end\"";
DEVICE char blanks[32] = "aaaaaaaaaaaaaaaaaaaaaaaabc";

DEVICE static void push(long value) {
  top++;
  stack[top] = value;
}

DEVICE static long pop(void) {
  long value = stack[top];
  top--;
  return value;
}

DEVICE int next_token(lexer *l) {
  char c = l->text[l->at];
  l->now.column = l->at;
  l->now.line = 1;
  if (c >= '0' && c <= '9') {
    long value = 0;
    while (l->text[l->at] >= '0' && l->text[l->at] <= '9') {
      value = value * 10 + (l->text[l->at] - '0');
      l->at++;
    }
    l->now.kind = NUMBER;
    l->now.number = value;
    return 1;
  }
  l->at++;
  l->now.op = c;
  switch (c) {
  case '+':
    l->now.kind = PLUS;
    break;
  case '-':
    l->now.kind = MINUS;
    break;
  case '*':
    l->now.kind = STAR;
    break;
  case '(':
    l->now.kind = OPEN;
    l->now.balance++;
    break;
  case ')':
    l->now.kind = CLOSE;
    l->now.balance--;
    break;
  default:
    l->now.kind = END;
    l->now.last = 1;
    return 0;
  }
  return 1;
}

DEVICE long expression(lexer *l, int priority);

DEVICE long primary(lexer *l) {
  if (l->now.kind == OPEN) {
    next_token(l);
    long inner = expression(l, 0);
    next_token(l);
    return inner;
  }
  long number = l->now.number;
  next_token(l);
  return number;
}

DEVICE long expression(lexer *l, int priority) {
  push(primary(l));
  while (l->now.kind >= PLUS && l->now.kind <= STAR) {
    struct rule *r = &rules[l->now.kind - PLUS];
    if (r->priority <= priority)
      break;
    next_token(l);
    long right = expression(l, r->priority);
    long left = pop();
    push(r->apply(left, right));
  }
  return pop();
}

KERNEL void kern(int *out, int n) {
  lexer l = {formula, 0, {END}};
  struct token *current = &l.now;
  next_token(&l);
  long result = expression(&l, 0);
  out[0] = (int)result;
  out[1] = current->kind + n;
again:
  if (out[1]-- > 5)
    goto again;
  out[2] = l.at;
}
