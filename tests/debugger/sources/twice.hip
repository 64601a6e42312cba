#define KERNEL __attribute__((global)) void
KERNEL twice(int n, int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < n)
    out[i] = i * n;
}
