/* Shared by the kettle and its lid. */
enum mode { OFF, WARM = 5, BOIL };

typedef int (*handler)(int amount);

struct kettle {
  enum mode mode;
  int degrees;
  handler on_change;
  struct kettle *next;
};

union reading {
  unsigned raw;
  struct { unsigned low : 4, high : 12; } parts;
};

int lid_open(struct kettle *k);
int lid_close(struct kettle *k, int hard);
extern int openings;

static inline int clip(int value, int limit) {
  if (value > limit)
    return limit;
  return value;
}
