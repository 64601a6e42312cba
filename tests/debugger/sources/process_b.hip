#define KERNEL extern "C" __attribute__((global)) void

KERNEL wait_for(int *flag, int wanted, int *answer) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != wanted)
    __builtin_amdgcn_s_sleep(1);
  int next = wanted + 1;
  __atomic_store_n(answer, next, __ATOMIC_RELEASE);
}
