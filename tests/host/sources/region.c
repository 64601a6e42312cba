// Functions in a target region, as a debugger sees them.
struct pair { int first; double second; };
#pragma omp declare target
static int fib(int n) { int own = n; return own < 2 ? own : fib(own - 1) + fib(own - 2); }
__attribute__((noinline)) double scaled(struct pair *p, int by)
{
  p->first += by;
  return p->second * by;
}
#pragma omp end declare target
int main(void)
{
  int out[4] = {0};
#pragma omp target map(tofrom: out)
  {
    struct pair both = {1, 2.5};
    out[1] = (int)scaled(&both, 4);
    out[0] = both.first + fib(5);
  }
  return out[0] - 10;
}
