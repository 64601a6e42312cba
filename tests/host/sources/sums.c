/* Host code for the debugger of host code: calls, a loop, output, signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int twice(int x) {
  int y = 2 * x;
  return y;
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < 4; i++)
    sum += twice(i);
  printf("%d %s\n", sum, getenv("GREETING"));
  fflush(stdout);
  if (argc > 1 && argv[1][0] == 's')
    raise(SIGUSR1);
  if (argc > 1 && argv[1][0] == 'w')
    for (;;)
      pause();
  return 3;
}
