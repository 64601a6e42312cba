/* Numbers of all widths, buffers of bytes, texts: for formats, x, printf, find, dump and the history. */
#include "both.h"

typedef unsigned short wide_t;
typedef struct {
  char c;
  signed char sc;
  unsigned char uc;
  short s;
  unsigned short us;
  int i;
  unsigned u;
  long l;
  unsigned long ul;
  float f;
  double d;
} all_t;

DEVICE signed char s8[4] = {-128, -1, 0, 127};
DEVICE unsigned char u8[8] = {0, 7, 27, 'A', '\\', '"', 200, 255};
DEVICE short s16[3] = {-32768, 12, 32767};
DEVICE wide_t u16[3] = {0, 'x', 65535};
DEVICE int s32[5] = {-2147483647 - 1, -7, 0, 65, 2147483647};
DEVICE unsigned u32[3] = {0, 3735928559u, 4294967295u};
DEVICE long s64[3] = {-9223372036854775807L - 1, -2, 9223372036854775807L};
DEVICE unsigned long u64[2] = {1ul << 63, 123456789012345678ul};
DEVICE float f32[8] = {0.0f, -0.0f, 1.0f / 3, 1e10f, 1.5e-40f, 3.4028235e38f, -100, 16777216.0f};
DEVICE double f64[6] = {0.1, -2.5e-300, 1e22, 123456.789, 5e-324, 1.0 / 3};
DEVICE char text[32] = "line one\nline\ttwo";
DEVICE char full[5] = {'a', 'b', 'c', 'd', 'e'};
DEVICE char padded[16] = "ab\0cd";
DEVICE char runs[64] = "aaaaaaaaaaaaaaaaaaaaaaaaxyzzzzzzzzzzzzzzzzzz!";
DEVICE const char *lines[4] = {"first", "", "third \"quoted\" \\ \1\2 \x7f", 0};
DEVICE unsigned int wide[6] = {'w', 0xe9, 0x20ac, 0x1f600, 0, 'z'};
DEVICE int folded[24] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
DEVICE int table[4][5] = {{1, 2, 3, 4, 5}, {0}, {0}, {6, 7, 8, 9, 10}};
DEVICE all_t all = {'c', -3, 250, -300, 60000, -70000, 4000000000u, -5000000000L, 18000000000000000000ul, 2.5f, -1e-5};
DEVICE unsigned char bytes[40];
DEVICE char letters[3][6] = {"one", "two", "three"};
DEVICE all_t pairs[2];

static int search(const unsigned char *from, int size, unsigned char what) {
  for (int i = 0; i < size; i++)
    if (from[i] == what)
      return i;
  return -1;
}

static double average(const int *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += values[i];
  return sum / count;
}

static char upper(char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }

float halve(float x) { return x / 2; }

const char *pick(int n) { return lines[n & 3]; }

KERNEL void kern(int *out, int n) {
  char local[12] = "local";
  unsigned char *cursor = bytes + 3;
  char *word = text;
  int *number = s32 + 1;
  void *opaque = s32;
  float *real = f32;
  short negative = -2;
  int zero = 0;
  _Bool truth = 1;
  for (int i = 0; i < 40; i++)
    bytes[i] = (unsigned char)(i * 7 + n);
  local[5] = upper(word[0]);
  pairs[1] = all;
  pairs[1].i = search(bytes, 40, 42);
  out[0] = (int)average(s32 + 1, 3) + negative + zero + truth; /* stop */
  out[1] = *cursor + *number + (opaque != 0) + (int)halve(*real) + (pick(1) != 0);
}
