#define GLOBAL extern "C" __attribute__((global)) void
#define NOINLINE __attribute__((device, noinline))

NOINLINE int down(int depth, int *out) {
  int here = depth * 3;
  if (depth == 0) {
    out[0] = here;
    __builtin_debugtrap();
    return 1;
  }
  int below = down(depth - 1, out);
  return (below ^ here) * (below + 5);
}

GLOBAL deep(int *out, int depth) { out[1] = down(depth, out); }
