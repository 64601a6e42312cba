#include "both.h"

typedef unsigned char byte;
typedef int (*binary)(int, int);
typedef struct vec { float x, y, z; } vec_t;
enum color { RED, GREEN = 5, BLUE };
enum flags { NONE = 0, READ = 1, WRITE = 2, EXEC = 4 };
union word { unsigned u; float f; unsigned char bytes[4]; struct { unsigned short lo, hi; } half; };
struct bits { unsigned a : 1; unsigned b : 3; int c : 4; unsigned : 8; unsigned long d : 33; _Bool on : 1; };
struct node { int value; struct node *next; };
struct outer {
  int id;
  union { int as_int; float as_float; };
  struct { short left, right; } pair;
  vec_t points[2];
  enum color paint;
  const char *label;
};

char c = 'A';
signed char sc = -5;
byte uc = 200;
short s = -1234;
unsigned short us = 65000;
int i = 42;
unsigned ui = 4000000000u;
long l = -5000000000L;
unsigned long ul = 18446744073709551615ul;
long long ll = 1LL << 40;
float f = 1.5f;
double d = 3.141592653589793;
double tiny = 1e-300, huge = 1e300, third = 1.0 / 3.0;
float fthird = 1.0f / 3.0f, fneg = -0.0f;
_Bool yes = 1, no = 0;
enum color paint = BLUE;
enum flags mode = READ | EXEC;
enum flags odd = 9;
union word w = {0x40490fdb};
struct bits bf = {1, 5, -3, 5000000000ul, 1};
int row[5] = {1, 2, 3, 4, 5};
int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
int cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
char text[16] = "hello";
char raw[6] = {'a', '\n', '\0', '\\', '"', 127};
char same[20] = "xxxxxxxxxxxxxxxx";
int repeated[40] = {[3] = 7, [39] = 1};
int zeros[300];
double reals[3] = {0.5, -2.25, 1e10};
byte blob[8] = {1, 2, 3, 250, 251, 252, 0, 255};
struct node last = {3, 0}, middle = {2, &last}, first = {1, &middle};
struct outer whole = {9, {77}, {-1, 2}, {{1, 2, 3}, {4, 5, 6}}, GREEN, "tag"};
const int limit = 10;
volatile int ticks = 3;
static int hidden = 8;

int plus(int a, int b) { return a + b; }
int minus(int a, int b) { return a - b; }
binary operation = minus;
binary operations[2] = {plus, minus};
int *pointer = &row[2];
int (*to_row)[5] = &row;
void *anything = &i;
const char *message = "a message";
const char *words[3] = {"one", "two", 0};
struct node *nothing = 0;
int **indirect = &pointer;

KERNEL void kern(int *out, int n) {
  int x = 10, y = 3;
  long big = 1L << 33;
  double ratio = 2.5;
  struct node here = {n, &first};
  union word local_word = {0x3f800000};
  int numbers[4] = {n, n * 2, n * 3, n * 4};
  unsigned mask = 0xf0f0;
  char letter = 'z';
  vec_t v = {1.0f, 2.0f, 3.5f};
  struct bits local_bits = {0, 2, -1, 7, 0};
  int *p = numbers;
  static int kept = 6;
  out[0] = x + y + plus(n, hidden) + kept;
  out[1] = minus(row[1], grid[1][2]) + (int)ratio + *p + (int)big + letter;
  out[2] = here.value + local_word.u + mask + (int)v.x + local_bits.b;
}
