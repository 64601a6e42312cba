/* The host's side of every program: the kernel's arguments are those that rocdbg's launch gives.

   There is no function `main`, as there is none to see on a device. */
#include <stdlib.h>

void kern(int *out, int n);

__attribute__((used)) static void begin(void) {
  int out[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++)
    out[i] = i;
  kern(out, SECOND_ARGUMENT);
  exit(0);
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall begin\n");
