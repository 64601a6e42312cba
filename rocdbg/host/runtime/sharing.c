/* Memory and signals of another process that rocdbg runs: hsa_amd_ipc_*.
 *
 * A handle says which process, where and how much. Attached memory is at addresses of its own in this process, with the
 * other's pages, here and in rocdbg. What another process changes wakes nobody here: who waits for such a signal looks
 * again after at most LONGEST_NAP. */
#define _GNU_SOURCE
#include <unistd.h>

#include "runtime.h"

enum { PAGE = 4096 };

typedef struct { uint64_t token, base, size, offset; } ipc_handle_t;
_Static_assert(sizeof(ipc_handle_t) == 32, "hsa_amd_ipc_memory_t, hsa_amd_ipc_signal_t");

hsa_status_t attach_memory(uint64_t token, uint64_t address, uint64_t size, uint64_t *base) {
  uint64_t arguments[REQUEST_ARGUMENTS] = {token, address, size};
  reply_t reply;
  int file = -1;
  hsa_status_t status = ask_for_file(REQUEST_ATTACH, arguments, NULL, 0, &reply, NULL, &file);
  if (!status) {
    *base = reply.values[0];
    if (file < 0 || !map_pages(*base, size, file, reply.values[1])) {
      ask_number(REQUEST_FREE, *base, 0, 0, NULL);
      status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
  }
  if (file >= 0) close(file);
  return status;
}

hsa_status_t detach_memory(uint64_t base, uint64_t size) {
  block_t block;
  take_block(base, &block); /* memory that has no address yet is none */
  map_pages(base, size, -1, base - window_base);
  return ask_number(REQUEST_FREE, base, 0, 0, NULL);
}

static void now_mapped(block_t *block, void *unused) { block->mapped = true; }

static hsa_status_t attach(const ipc_handle_t *handle, uint64_t *base) {
  hsa_status_t status = attach_memory(handle->token, handle->base, handle->size, base);
  if (status) return status;
  if (!note_block(*base, handle->size, 0, &agents[1].pools[0])) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  change_block(*base, now_mapped, NULL);
  return OK;
}

EXPORT hsa_status_t hsa_amd_ipc_memory_create(void *pointer, size_t size, ipc_handle_t *handle) {
  NEEDS_OPEN();
  block_t block;
  if (!pointer || !handle) return BAD;
  if (!find_block((uint64_t)pointer, &block) || block.base != (uint64_t)pointer || block.host || block.mapped || block.code)
    return BAD;
  if (size > block.size + (PAGE - 1)) return BAD;
  *handle = (ipc_handle_t){own_token, block.base, block.size, 0};
  return OK;
}

EXPORT hsa_status_t hsa_amd_ipc_memory_attach(const ipc_handle_t *handle, size_t size, uint32_t count, const hsa_agent_t *list,
                                              void **out) {
  NEEDS_OPEN();
  if (!handle || !out || (count && !list)) return BAD;
  for (uint32_t i = 0; i < count; i++) if (!agent_of(list[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  uint64_t base;
  hsa_status_t status = attach(handle, &base);
  if (!status) *out = (void *)base;
  say(1, "ipc_memory_attach %lu bytes: %#x", handle->size, status);
  return status;
}

EXPORT hsa_status_t hsa_amd_ipc_memory_detach(void *pointer) {
  NEEDS_OPEN();
  block_t block;
  if (!find_block((uint64_t)pointer, &block) || block.base != (uint64_t)pointer || !block.mapped) return BAD;
  return detach_memory(block.base, block.size);
}

/* Signals lie in blocks of many, all of which the other process sees then. */
EXPORT hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, ipc_handle_t *handle) {
  NEEDS_OPEN();
  uint64_t base, size;
  if (!signal.handle || !handle) return BAD;
  if (!signals_block(signal, &base, &size)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *handle = (ipc_handle_t){own_token, base, size, signal.handle - base};
  return OK;
}

EXPORT hsa_status_t hsa_amd_ipc_signal_attach(const ipc_handle_t *handle, hsa_signal_t *signal) {
  NEEDS_OPEN();
  if (!handle || !signal || handle->offset % sizeof(amd_signal_t) || handle->offset >= handle->size) return BAD;
  uint64_t base;
  hsa_status_t status = attach(handle, &base);
  if (!status) signal->handle = base + handle->offset;
  return status;
}
