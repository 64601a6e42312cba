// Kernels that reach memory in unusual ways. FLAGS is the last dword of a raw buffer's resource.

#define KERNEL extern "C" __attribute__((global)) void
#define LDS __attribute__((shared))
typedef unsigned u32;
typedef unsigned u32x2 __attribute__((ext_vector_type(2)));
typedef unsigned u32x4 __attribute__((ext_vector_type(4)));
typedef __attribute__((address_space(1))) void *global_pointer;
typedef __attribute__((address_space(3))) void *lds_pointer;

static inline __attribute__((device)) int item() { return __builtin_amdgcn_workitem_id_x(); }

KERNEL raw_loads(u32 *data, int bytes, u32 *out) {
  auto buffer = __builtin_amdgcn_make_buffer_rsrc(data, 0, bytes, FLAGS);
  u32x4 four = __builtin_amdgcn_raw_buffer_load_b128(buffer, item() * 16, 4, 0);
  u32x2 two = __builtin_amdgcn_raw_buffer_load_b64(buffer, item() * 8, 0, 0);
  u32 byte = __builtin_amdgcn_raw_buffer_load_b8(buffer, item() * 5, 0, 0);
  u32 *row = out + item() * 8;
  row[0] = four.x, row[1] = four.y, row[2] = four.z, row[3] = four.w;
  row[4] = two.x, row[5] = two.y, row[6] = byte, row[7] = 0;
}

KERNEL raw_stores(u32 *data, int bytes) {
  auto buffer = __builtin_amdgcn_make_buffer_rsrc(data, 0, bytes, FLAGS);
  __builtin_amdgcn_raw_buffer_store_b64((u32x2){item() + 1u, item() + 1001u}, buffer, item() * 8, 0, 0);
}

#ifdef DMA
KERNEL to_lds(u32 *data, u32 *out) {
  LDS u32 tile[64 * DMA / 4];
  __builtin_amdgcn_global_load_lds((global_pointer)(data + (63 - item()) * (DMA / 4)), (lds_pointer)tile, DMA, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  __builtin_amdgcn_s_barrier();
  for (int n = 0; n < DMA / 4; n++)
    out[item() * (DMA / 4) + n] = tile[item() * (DMA / 4) + n];
}
#endif

// The kernel keeps a pointer from one launch to the next.
__attribute__((device)) u32 *kept;
KERNEL keep(u32 *data) { kept = data; }
KERNEL use_kept(u32 *out) { out[item()] = kept[item()]; }

KERNEL read_at(unsigned long address, u32 *out) { out[item()] = *(u32 *)(address + 4 * item()); }

KERNEL read_global_at(unsigned long address, u32 *out) {
  out[item()] = *(__attribute__((address_space(1))) u32 *)(address + 4 * item());
}

KERNEL lds_atomics(u32 *out) {
  extern LDS unsigned long cells[];
  if (item() == 0) cells[0] = 5;
  __builtin_amdgcn_s_barrier();
  __atomic_fetch_add(&cells[0], 1ul << 32, __ATOMIC_RELAXED);
  __builtin_amdgcn_s_barrier();
  out[__builtin_amdgcn_workgroup_id_x()] = cells[0] >> 32;
}

KERNEL sum_of_unset(u32 *data, u32 *scratch, u32 *out) {
  scratch[item()] = data[item()];
  out[item()] = scratch[item()] + scratch[item() ^ 64];
}
