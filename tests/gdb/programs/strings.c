#include "both.h"

typedef struct {
  char name[12];
  unsigned char tag[4];
  short code;
  const char *note;
} record;

record records[3] = {
  {"alpha", {1, 2, 3, 4}, 7, "first"},
  {"beta", {'a', 'b', 'c', 0}, -7, 0},
  {"a longer one", {255, 0, 0, 1}, 0, "tab\there"},
};
char buffer[32];
char filled[8] = {'f', 'u', 'l', 'l', 'f', 'u', 'l', 'l'};
const char *escapes = "q\"b\\n\nt\te\033z\001";
char high[4] = {'\300', '\200', 'a', 0};
unsigned char bytes[10] = "bytes";
signed char small[3] = {-1, 0, 1};
char lines[2][8] = {"one", "two"};
__WCHAR_TYPE__ wide[4] = L"wi\x00e9";
__CHAR16_TYPE__ wide16[4] = u"u16";
__CHAR32_TYPE__ wide32[4] = U"u32";
char empty[4] = "";
char runs[40] = "aaaaaaaaaaaaaaaaaabcccccccccccccccccc";

static int length(const char *s) {
  int n = 0;
  while (*s++)
    n++;
  return n;
}

static void copy(char *to, const char *from) {
  do
    *to++ = *from;
  while (*from++);
}

static int same(const char *a, const char *b) {
  for (; *a && *a == *b; a++, b++)
    ;
  return *a == *b;
}

KERNEL void kern(int *out, int n) {
  char local[10] = "local";
  const char *where = records[0].note;
  copy(buffer, records[2].name);
  out[0] = length(local) + length(where);
  out[1] = same(records[0].name, "alpha");
  out[2] = n;
}
