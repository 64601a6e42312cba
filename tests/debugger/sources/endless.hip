#define GLOBAL extern "C" __attribute__((global)) void

GLOBAL endless(int *out, int limit) {
  int thread = __builtin_amdgcn_workitem_id_x();
  int count = 0;
  if (thread == 0) {
    while (count >= 0) {
      count = (count + 1) & 0xff;
      out[1] = count;
    }
  }
  out[thread] = count + limit;
}
