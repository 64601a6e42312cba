/* The host's side of every program: the kernel's arguments are those that rocdbg's launch gives. */
void kern(int *out, int n);

static int out[ELEMENTS];

int main(void) {
  for (int i = 0; i < ELEMENTS; i++)
    out[i] = i;
  kern(out, SECOND_ARGUMENT);
  return 0;
}
