#define KERNEL extern "C" __attribute__((global)) void
#define ITEM (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())

KERNEL scale(int *data, int factor) {
  int i = ITEM;
  int old = data[i];
  data[i] = old * factor;
}

KERNEL __amd_rocclr_fillBuffer(int *data, int value) {
  data[ITEM] = value;
}

KERNEL wild(int *data) {
  data[ITEM + 4096] = 1;
}

KERNEL forever(int *data) {
  while (__atomic_load_n(data, __ATOMIC_ACQUIRE) == 0)
    __builtin_amdgcn_s_sleep(1);
}
