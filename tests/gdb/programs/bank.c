#include "both.h"
#define MAX 8

typedef struct account {
  int id;
  long balance;
  char name[12];
} account_t;

typedef struct bank {
  account_t accounts[MAX];
  int count;
  long total;
} bank_t;

enum kind { DEPOSIT, WITHDRAW, TRANSFER };

DEVICE static bank_t bank;
DEVICE int errors;

static account_t *find(bank_t *b, int id) {
  for (int i = 0; i < b->count; i++)
    if (b->accounts[i].id == id)
      return &b->accounts[i];
  return 0;
}

static int open_account(bank_t *b, int id, const char *name, long start) {
  account_t *a;
  if (b->count >= MAX)
    return -1;
  a = &b->accounts[b->count++];
  a->id = id;
  a->balance = start;
  int i;
  for (i = 0; name[i] && i < 11; i++)
    a->name[i] = name[i];
  a->name[i] = 0;
  b->total += start;
  return 0;
}

static int apply(bank_t *b, enum kind kind, int from, int to, long amount) {
  account_t *x = find(b, from);
  if (!x) {
    errors++;
    return -1;
  }
  switch (kind) {
  case DEPOSIT:
    x->balance += amount;
    b->total += amount;
    break;
  case WITHDRAW:
    if (x->balance < amount) {
      errors++;
      return -2;
    }
    x->balance -= amount;
    b->total -= amount;
    break;
  case TRANSFER: {
    account_t *y = find(b, to);
    if (!y)
      return -3;
    x->balance -= amount;
    y->balance += amount;
    break;
  }
  }
  return 0;
}

static long interest(long balance, int years) {
  if (years == 0)
    return balance;
  return interest(balance + balance / 10, years - 1);
}

KERNEL void kern(int *out, int n) {
  int status = 0;
  open_account(&bank, 10, "alice", 1000);
  open_account(&bank, 20, "bob", 50 * n);
  status = apply(&bank, DEPOSIT, 10, 0, 200);
  status += apply(&bank, WITHDRAW, 20, 0, 1000);
  status += apply(&bank, TRANSFER, 10, 20, 300);
  for (int i = 0; i < bank.count; i++) {
    account_t *a = &bank.accounts[i];
    a->balance = interest(a->balance, 3);
    out[i] = a->balance;
  }
  out[2] = status;
  out[3] = errors;
}
