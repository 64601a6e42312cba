#define KERNEL extern "C" __attribute__((global)) void
#define X __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
typedef unsigned u32;

// Ends when `flag` is what it waits for; then sets `answer`.
KERNEL wait_for(u32 *flag, u32 value, u32 *answer) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) __builtin_amdgcn_s_sleep(1);
  if (X == 0) __atomic_store_n(answer, value + 1, __ATOMIC_RELEASE);
}

// Sizes as the packet and the hidden arguments have them, and what the caller wrote.
struct Sizes { u32 grid[3], group[3], blocks[3], lds, wave; };
extern __attribute__((shared)) u32 dynamic[];
KERNEL sizes(Sizes *out, u32 count) {
  const __attribute__((address_space(4))) u32 *packet =
      (const __attribute__((address_space(4))) u32 *)__builtin_amdgcn_dispatch_ptr();
  const __attribute__((address_space(4))) u32 *hidden =
      (const __attribute__((address_space(4))) u32 *)__builtin_amdgcn_implicitarg_ptr();
  for (u32 i = X; i < count; i += __builtin_amdgcn_workgroup_size_x()) dynamic[i] = i;
  __builtin_amdgcn_s_barrier();
  u32 sum = 0;
  for (u32 i = 0; i < count; i++) sum += dynamic[i];
  Sizes *at = out + GROUP;
  if (X || __builtin_amdgcn_workitem_id_y() || __builtin_amdgcn_workitem_id_z()) return;
  for (int i = 0; i < 3; i++) at->grid[i] = packet[3 + i], at->blocks[i] = hidden[i];
  at->group[0] = packet[1] & 0xffff, at->group[1] = packet[1] >> 16, at->group[2] = packet[2] & 0xffff;
  at->lds = sum;
  at->wave = __builtin_amdgcn_wavefrontsize();
}

KERNEL add(u32 *p, u32 n) {
  u32 i = GROUP * __builtin_amdgcn_workgroup_size_x() + X;
  volatile u32 copy[4];
  for (int k = 0; k < 4; k++) copy[(i + k) & 3] = n;
  p[i] += copy[i & 3];
}
