static int square(int v) {
  int result = v * v;
  return result;
}

static int cubed(int v) {
  int result = square(v);
  result *= v;
  return result;
}
