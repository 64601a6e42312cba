#define SWAP(a, b) do { int t_ = a; a = b; b = t_; } while (0)
static inline int twice(int v) {
  int r = v;
  r += v;
  return r;
}
