/* A whole OpenMP program: a sum over an array, on the GPU. Built by GCC (README.md) and run by `rocdbg run ./sum`. */
#include <omp.h>
#include <stdio.h>

enum { N = 4000 };

int main(void) {
  static int values[N];
  long total = 0;
  int on_host = 1;
  for (int i = 0; i < N; i++) values[i] = i;
#pragma omp target teams distribute parallel for reduction(+ : total) map(tofrom : values)
  for (int i = 0; i < N; i++) {
    values[i] *= 3;
    total += values[i];
  }
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += values[i] != 3 * i;
  printf("total %ld, %d wrong, on the %s\n", total, wrong, on_host ? "host" : "GPU");
  return wrong || on_host || total != 3l * N * (N - 1) / 2;
}
