/* The host's side of every program: the kernel's arguments are those that rocdbg's launch gives.

   There is no function `main`, as there is none to see on a device. */
#include <stdlib.h>

void kern(int *out, int n);

/* A device's private memory is zero before a kernel runs: so is the stack here, where variables have no value yet. */
__attribute__((noinline)) static void clear(void) {
  volatile char stack[1 << 16];
  for (unsigned i = 0; i < sizeof stack; i++)
    stack[i] = 0;
}

__attribute__((used)) static void begin(void) {
  int out[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++)
    out[i] = i;
  clear();
  kern(out, SECOND_ARGUMENT);
  exit(0);
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall begin\n");
