// Kernels whose results show the order in which waves ran, and what was in LDS and private memory before them.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
typedef unsigned int u32;

static inline __attribute__((device)) u32 flat_item() {
  u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
  return x + __builtin_amdgcn_workgroup_size_x() * (y + __builtin_amdgcn_workgroup_size_y() * z);
}

// Each wave logs itself three times, with barriers between, after having run for a time of its own. Of each five waves
// one ends before the last barrier. A log entry: 32 * workgroup + wave, which time it is from bit 28 on, and bit 30 if
// something was left over from another workgroup.
extern "C" __global__ void order(u32 *log, u32 *next, u32 spin) {
  __shared__ volatile u32 part[64];
  volatile u32 own[4];
  u32 item = flat_item(), size = __builtin_amdgcn_wavefrontsize();
  u32 group = (__builtin_amdgcn_workgroup_id_x() * 16 + __builtin_amdgcn_workgroup_id_y()) * 16 +
              __builtin_amdgcn_workgroup_id_z();
  u32 wave = __builtin_amdgcn_readfirstlane(group * 32 + item / size);
  int first = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) == 0;
  u32 left_over = part[item % 64] | own[item % 4];
  __builtin_amdgcn_s_barrier();
  for (u32 i = spin * (wave * 7 % 11); i; --i) __asm__ volatile("s_nop 0");
  u32 seen = __builtin_amdgcn_ballot_w64(left_over != 0) ? 1u << 30 : 0;
  if (first) log[__atomic_fetch_add(next, 1, __ATOMIC_RELAXED)] = wave | seen;
  part[item % 64] = own[item % 4] = wave + 1;
  __builtin_amdgcn_s_barrier();
  if (first) log[__atomic_fetch_add(next, 1, __ATOMIC_RELAXED)] = wave | seen | 1u << 28;
  if (wave % 5 == 3) return;
  __builtin_amdgcn_s_barrier();
  if (first) log[__atomic_fetch_add(next, 1, __ATOMIC_RELAXED)] = wave | (own[item % 4] == wave + 1 ? 2u << 28 : 7u << 28);
}

// Workgroup `bad` stores past the end of `out` with its work-item 40.
extern "C" __global__ void late_fault(u32 *out, u32 bad) {
  u32 item = flat_item(), group = __builtin_amdgcn_workgroup_id_x();
  __builtin_amdgcn_s_barrier();
  out[group * 64 + item + (group == bad && item == 40 ? 1 << 24 : 0)] = group;
}

// LDS and private memory of every work-item, for the memory that a dispatch takes.
extern "C" __global__ void many(u32 *out) {
  __shared__ volatile u32 part[1024];
  volatile u32 own[16];
  u32 item = flat_item();
  for (int i = 0; i < 16; ++i) own[i] = item;
  part[item] = own[item % 16];
  if (item == 0 && __builtin_amdgcn_workgroup_id_x() % 1024 == 0) out[__builtin_amdgcn_workgroup_id_x() / 1024] = part[0] + 1;
}

extern "C" __global__ void forever(volatile u32 *p) {
  while (*p == 0) {
  }
}

// 8 KiB of private memory per work-item, of which each touches a little: bad[0] counts what was left over.
extern "C" __global__ void deep(u32 *bad) {
  volatile u32 own[2048];
  u32 item = flat_item();
  for (u32 i = item % 7; i < 2048; i += 300) {
    if (own[i]) __atomic_fetch_add(bad, 1, __ATOMIC_RELAXED);
    own[i] = item + 1;
  }
}
