/* Memory of the program itself that kernels may reach: hsa_amd_memory_lock.
 *
 * A range gets addresses of the window, but its pages stay where they are: runtimes pin memory, stacks of running threads
 * too, only to copy it, and such copies are made here with the program's addresses. When a kernel comes to such an
 * address, rocdbg asks for the pages to be shared: they are replaced by pages of the window with the same contents. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "runtime.h"

enum { PAGE = 4096 };

/* Whole pages, whatever they hold: AddressSanitizer's memcpy would refuse what it guards between the program's objects. */
static void copy_pages(char *to, const char *from, uint64_t size) {
  volatile uint64_t *target = (void *)to;
  const volatile uint64_t *source = (const void *)from;
  for (uint64_t i = 0; i < size / sizeof *target; i++) target[i] = source[i];
}

/* Replace a range of pages at once. What other threads write between the copy and the exchange is lost. */
static bool replace_pages(uint64_t low, uint64_t size, int flags, int file, uint64_t offset, const void *from) {
  char *fresh = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, offset);
  if (fresh == MAP_FAILED) return false;
  copy_pages(fresh, from, size);
  if (mremap(fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)low) == (void *)low) return true;
  munmap(fresh, size);
  return false;
}

/* Pages of the window a second time, at other addresses: mremap of size 0 duplicates a shared mapping. */
static bool alias_window(uint64_t low, uint64_t size, uint64_t base) {
  char *fresh = mremap((void *)base, 0, size, MREMAP_MAYMOVE);
  if (fresh == MAP_FAILED) return false;
  madvise(fresh, size, MADV_DOFORK); /* the program's own memory, unlike the window */
  madvise(fresh, size, MADV_DODUMP);
  copy_pages(fresh, (void *)low, size);
  if (mremap(fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)low) == (void *)low) return true;
  munmap(fresh, size);
  return false;
}

static void share(block_t *block, void *good) {
  if (block->host && !block->shared) block->shared = alias_window(block->host, block->size, block->base);
  *(bool *)good = block->shared;
}

bool share_pages(uint64_t base) {
  bool good = false;
  change_block(base, share, &good);
  say(1, "the pages of locked memory at %#lx are%s shared now", base, good ? "" : " not");
  return good;
}

static void lock_again(block_t *block, void *data) { block->locks++; }
static void unlock_once(block_t *block, void *left) { *(uint32_t *)left = --block->locks; }

EXPORT hsa_status_t hsa_amd_memory_lock_to_pool(void *host, size_t size, hsa_agent_t *list, int count,
                                                hsa_amd_memory_pool_t handle, uint32_t flags, void **out) {
  NEEDS_OPEN();
  if (!host || !size || !out || (count && !list)) return BAD;
  pool_t *pool = pool_of(handle.handle);
  if (!pool) return HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (pool->agent->gpu) return BAD;
  for (int i = 0; i < count; i++) if (!agent_of(list[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  uint64_t at = (uint64_t)host, low = at & ~(PAGE - 1ul), high = (at + size + PAGE - 1) & ~(PAGE - 1ul);
  block_t old;
  if (find_block(at, &old)) { /* memory of the window, or locked before */
    uint64_t start = old.host ? old.host : old.base;
    if (at + size > start + old.size) return HSA_STATUS_ERROR_OUT_OF_RESOURCES; /* partly: the ranges would overlap */
    if (old.host) change_block(at, lock_again, NULL);
    *out = (void *)(old.base + (at - start));
    return OK;
  }
  uint64_t base;
  hsa_status_t status = ask_number(REQUEST_PIN, high - low, pool->kind, at - low, &base);
  if (status) return status;
  if (!note_block(base, high - low, low, pool)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *out = (void *)(base + (at - low));
  say(1, "memory_lock %p, %zu bytes: %p", host, size, *out);
  return OK;
}

EXPORT hsa_status_t hsa_amd_memory_lock(void *host, size_t size, hsa_agent_t *list, int count, void **out) {
  NEEDS_OPEN();
  hsa_amd_memory_pool_t pool = {(uint64_t)&agents[0].pools[0]};
  return hsa_amd_memory_lock_to_pool(host, size, list, count, pool, 0, out);
}

EXPORT hsa_status_t hsa_amd_memory_unlock(void *host) {
  NEEDS_OPEN();
  block_t block;
  uint32_t left = 0;
  if (!host) return BAD;
  if (!find_block((uint64_t)host, &block) || !block.host) return OK; /* as ROCr: nothing was locked */
  change_block((uint64_t)host, unlock_once, &left);
  if (left) return OK;
  hsa_status_t status = take_block(block.base, &block);
  if (status) return status;
  if (block.shared && !replace_pages(block.host, block.size, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, (void *)block.base))
    say(0, "the memory that was locked at %p remains shared with the GPU: there is no memory for a private copy", host);
  return ask_number(REQUEST_FREE, block.base, 0, 0, NULL);
}
