#include "both.h"

typedef float real;

template <int R, int C> struct Matrix {
  real at[R][C];
  Matrix<R, C> operator*(real v) const {
    Matrix<R, C> m;
    for (int i = 0; i < R; i++)
      for (int j = 0; j < C; j++)
        m.at[i][j] = at[i][j] * v;
    return m;
  }
  real trace() const {
    real sum = 0;
    for (int i = 0; i < R && i < C; i++)
      sum += at[i][i];
    return sum;
  }
};

DEVICE Matrix<2, 2> unit = {{{1, 0}, {0, 1}}};
DEVICE const real table[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};

static real dot(const real *a, const real *b, int n) {
  real sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static void fill(real (&m)[3][3], real start) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m[i][j] = start + i * 3 + j;
}

KERNEL void kern(int *out, int n) {
  real a[3][3], b[4] = {1, 2, 3, 4};
  fill(a, 1);
  Matrix<2, 3> m = {{{1, 2, 3}, {4, 5, 6}}};
  Matrix<2, 3> scaled = m * 2;
  real (*row)[3] = &a[1];
  real product = dot(a[0], b, 3);
  out[0] = (int)(product + scaled.trace() + (*row)[2] + unit.trace() + table[1][2][1]);
  out[1] = n;
}
