#include "both.h"

/* Variants with tags, queues of callbacks, matrices of run-time size, calendars in bits. */

#define COUNT 5
#define NAME_LENGTH 10

typedef struct date date;
struct date {
  unsigned int day : 5, month : 4;
  int year : 13;
  unsigned int : 2;
  unsigned leap : 1;
};

enum tag { T_INT, T_REAL, T_TEXT, T_PAIR, T_LAST = T_PAIR };
typedef enum weekday { MON = 1, TUE, WED, SAT = 6, SUN } weekday_t;
enum rights { READ = 1 << 0, WRITE = 1 << 1, RUN = 1 << 2, ALL = READ | WRITE | RUN };

typedef struct value {
  enum tag tag;
  union {
    long integer;
    double real;
    char text[NAME_LENGTH];
    struct {
      struct value *left, *right;
    } pair;
  } as;
} value_t;

typedef struct patient {
  char name[NAME_LENGTH];
  date born;
  float weight, height;
  weekday_t visits[3];
  enum rights rights;
  value_t notes[2];
  struct patient *next, **slot;
  unsigned char history[4][3];
  _Bool urgent : 1, insured : 1;
  signed char mood : 3;
} patient_t;

typedef double (*measure_t)(const patient_t *);
typedef void visitor(patient_t *, void *);

struct queue {
  patient_t *first, *last;
  unsigned short length;
  struct {
    measure_t measure;
    const char *label;
  } measures[3];
  visitor *each;
  int totals[COUNT];
};

static patient_t ward[COUNT];
static struct queue queue;
static value_t tree[5];
const int primes[] = {2, 3, 5, 7, 11, 13};
static const double limits[2][2] = {{18.5, 24.9}, {25, 29.9}};
static const char *const names[COUNT] = {"Ada", "Bob", "Cleopatra", "D", ""};
static long long counters[2][2][2];
static unsigned flags = 0xf0f0;
static short matrix[3][4];
volatile int ticks = -1;
char *cursor;
static float samples[6] = {0.5f, -1.25f, 3e8f, 1e-7f, 0, -0.0f};
static struct { int x, y; } corners[] = {{1, 2}, {3, 4}, {-5, -6}};
static union { unsigned u; float f; unsigned char b[4]; } pun = {0x40490fdb};

static double index_of(const patient_t *p) { return p->weight / (p->height * p->height); }

static double age_of(const patient_t *p) { return 2024 - p->born.year; }

static void raise_urgent(patient_t *p, void *data) {
  int *count = data;
  p->urgent = p->mood < 0;
  *count += p->urgent;
}

static int copy(char *to, const char *from) {
  int i = 0;
  do
    to[i] = from[i];
  while (from[i++] && i < NAME_LENGTH);
  return i - 1;
}

static patient_t *admit(struct queue *queue, int index, date born) {
  patient_t *patient = ward + index;
  int length = copy(patient->name, names[index]);
  patient->born = born;
  patient->weight = 60.5f + index;
  patient->height = 1.5f + 0.125f * index;
  patient->mood = index - 2;
  patient->insured = length > 2;
  patient->rights = (enum rights)(index + 1);
  patient->visits[index % 3] = index ? SAT : MON;
  patient->notes[0].tag = T_INT;
  patient->notes[0].as.integer = -index * 1000L;
  patient->notes[1].tag = T_TEXT;
  copy(patient->notes[1].as.text, names[COUNT - 1 - index]);
  patient->history[index % 4][index % 3] = (unsigned char)(200 + index);
  if (queue->last)
    queue->last->next = patient;
  else
    queue->first = patient;
  patient->slot = &queue->last;
  queue->last = patient;
  queue->length++;
  return patient; /* admitted */
}

static void visit_all(struct queue *queue, visitor *each, void *data) {
  for (patient_t *p = queue->first; p; p = p->next)
    each(p, data);
}

static long fold(const value_t *value, int depth) {
  switch (value->tag) {
  case T_INT:
    return value->as.integer + depth;
  case T_REAL:
    return (long)value->as.real;
  case T_PAIR:
    return fold(value->as.pair.left, depth + 1) * 10 + fold(value->as.pair.right, depth + 1);
  default:
    return value->as.text[0];
  }
}

static float norm(int rows, int columns, const float cells[rows][columns]) {
  float sum = 0;
  float scaled[4] = {0};
  for (int r = 0; r < rows; r++) {
    scaled[r] = 0;
    for (int c = 0; c < columns; c++)
      scaled[r] += cells[r][c] * cells[r][c];
    sum += scaled[r];
  }
  return sum; /* norm */
}

static int round_up(int n) {
  int urgent = 0, local[2][3] = {{n, n + 1, n + 2}, {-n}};
  const int *scan = primes;
  char letters[] = "abc", *letter = letters + 1, **indirect = &letter;
  float cells[2][3] = {{1, 2, 3}, {4, 5, 6}};
  patient_t guest = ward[1], *guests[2] = {&guest, 0};
  date today = {29, 2, 2024, 1}, never = {1};
  measure_t best = queue.measures[0].measure;
  value_t *root = &tree[4];
  register int fast = n * 2;
  weekday_t day = TUE, odd_day = (weekday_t)5;
  void *nothing = 0, *something = &guest;
  long double wide = 1.5;
  visit_all(&queue, queue.each, &urgent);
  float length = norm(2, 3, (const float(*)[3])cells);
  return urgent + local[0][1] + scan[2] + letters[0] + (int)length + (int)best(&guest) + (int)fold(root, 0) + fast; /* end */
}

KERNEL void kern(int *out, int n) {
  queue.measures[0].measure = index_of;
  queue.measures[0].label = "bmi";
  queue.measures[1].measure = age_of;
  queue.measures[1].label = "age";
  queue.each = raise_urgent;
  for (int i = 0; i < COUNT; i++) {
    date born = {(unsigned)i + 1, (unsigned)(12 - i), 1950 + 10 * i, i == 2};
    admit(&queue, i, born);
    queue.totals[i] = i * n;
  }
  for (int i = 0; i < 4; i++) {
    tree[i].tag = i == 2 ? T_REAL : T_INT;
    if (i == 2)
      tree[i].as.real = 7.75;
    else
      tree[i].as.integer = i + 3;
  }
  tree[3].tag = tree[4].tag = T_PAIR;
  tree[3].as.pair.left = &tree[0];
  tree[3].as.pair.right = &tree[1];
  tree[4].as.pair.left = &tree[3];
  tree[4].as.pair.right = &tree[2];
  counters[1][0][1] = -12345678901LL;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++)
      matrix[r][c] = (short)(r == c ? 100 : r - c);
  cursor = ward[2].name;
  out[0] = round_up(n);
}
