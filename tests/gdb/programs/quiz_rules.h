namespace rules {
inline bool is_prime(int v) {
  for (int d = 2; d * d <= v; d++)
    if (v % d == 0)
      return false;
  return v > 1;
}
template <int K> struct Bonus {
  static int of(int v) { return v * K; }
};
template <class F> int twice(F f, int x) {
  int once = f(x);
  return f(once);
}
}
