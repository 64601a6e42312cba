#include "both.h"

/* C as programs have it: structures in structures, unions, bit fields, pointers to functions, text, floats. */

typedef unsigned char u8;
typedef unsigned long long u64;
typedef int (*operation)(int, int);
enum status { IDLE, RUNNING = 3, STOPPED, FAILED = -1 };
enum { LIMIT = 5, OTHER };
typedef enum { RED, GREEN, BLUE } color_t;

struct date { int year; u8 month, day; };
struct name { char first[8]; char last[12]; };
typedef struct person {
  struct name name;
  struct date born;
  double height;
  struct person *boss;
  enum status status;
} person_t;

struct flags {
  unsigned ready : 1;
  unsigned error : 1;
  int level : 4;
  enum status state : 4;
  u64 stamp : 40;
};

union number {
  int i;
  unsigned u;
  float f;
  double d;
  char text[8];
  struct { short a, b; } pair;
};

struct account {
  int id;
  union { long whole; struct { int low, high; }; };
  union number history[3];
  operation apply;
  const char *title;
  struct { int x; struct { int y, z; } deep; } nested;
};

struct list { int value; struct list *next; };

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
int mul(int a, int b) { return a * b; }
double half_of(double x) { return x / 2; }

int counter = 41;
static int hidden = 17;
const int fixed = 9;
volatile int busy = 2;
person_t people[2] = {
  {{"Ada", "Lovelace"}, {1815, 12, 10}, 1.65, 0, RUNNING},
  {{"Alan", "Turing"}, {1912, 6, 23}, 1.78, &people[0], FAILED},
};
operation operations[3] = {add, sub, mul};
const char *messages[] = {"zero", "one", "two", 0};
char text[20] = "hello, world";
char embedded[10] = "ab\0cd\0\0ef";
char full[4] = {'f', 'u', 'l', 'l'};
u8 raw[6] = {0, 1, 127, 128, 200, 255};
signed char tiny = -3;
int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
int cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
float floats[4] = {1.0f, 0.1f, -2.5f, 1e20f};
double doubles[3] = {3.141592653589793, 1e-10, 1e300};
long double precise = 2.5L;
_Bool yes = 1;
_Complex float wave = 1.0f;
_Complex double phase = 2.0;
__WCHAR_TYPE__ wide[6] = L"wide!";
__CHAR16_TYPE__ utf16[6] = u"u\x20ac!";
__CHAR32_TYPE__ utf32[6] = U"u32";
int zeros[100];
int runs[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3};
struct list third = {3, 0}, second = {2, &third}, first = {1, &second};
void *nowhere = 0;
short shorts[3] = {-1, 0, 1};
long longs[2] = {-1, 1L << 40};
u64 huge = 18446744073709551615ull;

static int total(struct list *head) {
  static int calls;
  int sum = 0;
  calls++;
  for (struct list *at = head; at; at = at->next)
    sum += at->value;
  return sum;
}

int factorial(int n) {
  if (n < 2)
    return 1;
  int rest = factorial(n - 1);
  return n * rest;
}

KERNEL void kern(int *out, int n) {
  struct flags flags = {1, 0, -3, RUNNING, 0x123456789aull};
  union number number;
  number.d = 0;
  number.f = 2.5f;
  struct account account = {7, {0x100000002}, {{1}, {2}, {3}}, mul, "main", {1, {2, 3}}};
  struct account *where = &account;
  person_t *boss = people[1].boss;
  enum status status = STOPPED;
  color_t color = GREEN;
  operation op = operations[1];
  int local = n * 2;
  unsigned small = 3;
  char letter = 'A';
  char newline = '\n';
  float ratio = 0.75f;
  double value = -1.25;
  int numbers[5] = {5, 4, 3, 2, 1};
  int *pointer = numbers;
  int **indirect = &pointer;
  const char *message = messages[1];
  int length = n;
  int odd[3] = {7, 7, 7};
  int sum = total(&first) + op(9, 4) + account.apply(2, 3);
  double halved = half_of(value) + (double)ratio;
  {
    int local = 3;
    int block = local * 2;
    sum += block;
  }
  sum += factorial(4) + hidden + busy + zeros[3] + add(1, 2);
  out[0] = sum + (int)halved + status + color + small + letter + newline + length + odd[1];
}
