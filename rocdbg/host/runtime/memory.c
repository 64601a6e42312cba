/* Blocks of the window: what was allocated where, and what programs may ask about it; copies that run at once.
 *
 * rocdbg gives addresses out, because its page table knows every block's exact size. Here blocks are kept in two search
 * trees, by their place in the window and by the place of pinned memory in the program. */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

typedef struct callback { uint64_t base; void (*function)(void *, void *); void *data; struct callback *next; } callback_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *by_base, *by_host;
static callback_t *callbacks; /* of blocks that will be freed */

/* Blocks that overlap compare equal: a key of one byte finds the block around it. */
static int compare(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
  if (a + (a_size ? a_size : 1) <= b) return -1;
  return b + (b_size ? b_size : 1) <= a;
}
static int compare_base(const void *a, const void *b) {
  const block_t *x = a, *y = b;
  return compare(x->base, x->size, y->base, y->size);
}
static int compare_host(const void *a, const void *b) {
  const block_t *x = a, *y = b;
  return compare(x->host, x->size, y->host, y->size);
}
static block_t *lookup(uint64_t address) {
  block_t key = {.base = address, .host = address, .size = 1};
  block_t **at = tfind(&key, &by_base, compare_base);
  if (!at) at = tfind(&key, &by_host, compare_host);
  return at ? *at : NULL;
}

block_t *note_block(uint64_t base, uint64_t size, uint64_t host, pool_t *pool) {
  block_t *block = malloc(sizeof *block);
  if (!block) return NULL;
  *block = (block_t){.base = base, .size = size, .host = host, .pool = pool, .locks = 1};
  pthread_mutex_lock(&lock);
  tsearch(block, &by_base, compare_base);
  if (host) tsearch(block, &by_host, compare_host);
  pthread_mutex_unlock(&lock);
  return block;
}

bool find_block(uint64_t address, block_t *found) {
  pthread_mutex_lock(&lock);
  block_t *block = lookup(address);
  if (block) *found = *block;
  pthread_mutex_unlock(&lock);
  return block;
}

bool change_block(uint64_t address, void (*change)(block_t *, void *), void *data) {
  pthread_mutex_lock(&lock);
  block_t *block = lookup(address);
  if (block) change(block, data);
  pthread_mutex_unlock(&lock);
  return block;
}

hsa_status_t take_block(uint64_t base, block_t *taken) {
  pthread_mutex_lock(&lock);
  block_t *block = lookup(base);
  bool good = block && (block->base == base || block->host == base);
  if (good) {
    *taken = *block;
    tdelete(block, &by_base, compare_base);
    if (block->host) tdelete(block, &by_host, compare_host);
    free(block);
  }
  pthread_mutex_unlock(&lock);
  return good ? OK : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

void forget_blocks(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  by_base = by_host = NULL;
  callbacks = NULL;
}

uint64_t allocate(size_t size, pool_t *pool) {
  uint64_t base;
  return ask_number(REQUEST_ALLOCATE, size, pool->kind, pool->agent->node, &base) ? 0 : base;
}

bool in_window(uint64_t address) { return address - window_base < window_size; }

/* Pinned memory has an address of the window, but its bytes stay where the program keeps them until a kernel comes. */
uint64_t host_side(uint64_t address) {
  block_t block;
  if (!in_window(address) || !find_block(address, &block) || !block.host || block.shared) return address;
  return block.host + (address - block.base);
}

void note_write(uint64_t address, uint64_t size) {
  block_t block;
  if (in_window(address) && size && find_block(address, &block) && block.code)
    ask_number(REQUEST_CODE_WRITTEN, address, size, 0, NULL);
}

EXPORT hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size, uint32_t flags, void **out) {
  NEEDS_OPEN();
  pool_t *pool = pool_of(handle.handle);
  if (!pool) return HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!out || !size) return BAD;
  if (pool->kind == POOL_GROUP) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  uint64_t base = allocate(size, pool);
  say(1, "memory_pool_allocate %zu bytes: %#lx", size, base);
  if (!base || !note_block(base, size, 0, pool)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *out = (void *)base;
  return OK;
}

static void call_back(uint64_t base) {
  for (;;) {
    pthread_mutex_lock(&lock);
    callback_t **at = &callbacks;
    while (*at && (*at)->base != base) at = &(*at)->next;
    callback_t *found = *at;
    if (found) *at = found->next;
    pthread_mutex_unlock(&lock);
    if (!found) return;
    found->function((void *)base, found->data);
    free(found);
  }
}

EXPORT hsa_status_t hsa_amd_memory_pool_free(void *pointer) {
  NEEDS_OPEN();
  if (!pointer) return OK;
  block_t block;
  if (!find_block((uint64_t)pointer, &block) || block.base != (uint64_t)pointer || block.host || block.code || block.mapped)
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  say(1, "memory_pool_free %p", pointer);
  call_back(block.base);
  hsa_status_t status = take_block(block.base, &block);
  return status ? status : ask_number(REQUEST_FREE, block.base, 0, 0, NULL);
}

EXPORT hsa_status_t hsa_amd_register_deallocation_callback(void *pointer, void (*function)(void *, void *), void *data) {
  NEEDS_OPEN();
  block_t block;
  if (!pointer || !function) return BAD;
  if (!find_block((uint64_t)pointer, &block)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  callback_t *callback = malloc(sizeof *callback);
  if (!callback) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  pthread_mutex_lock(&lock);
  *callback = (callback_t){block.base, function, data, callbacks};
  callbacks = callback;
  pthread_mutex_unlock(&lock);
  return OK;
}

EXPORT hsa_status_t hsa_amd_deregister_deallocation_callback(void *pointer, void (*function)(void *, void *)) {
  NEEDS_OPEN();
  pthread_mutex_lock(&lock);
  callback_t **at = &callbacks;
  while (*at && ((*at)->base != (uint64_t)pointer || (*at)->function != function)) at = &(*at)->next;
  callback_t *found = *at;
  if (found) *at = found->next;
  pthread_mutex_unlock(&lock);
  free(found);
  return found ? OK : BAD;
}

/* All agents can always reach all blocks. */
EXPORT hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *list, const uint32_t *flags, const void *pointer) {
  NEEDS_OPEN();
  if (!count || !list || flags || !pointer) return BAD;
  for (uint32_t i = 0; i < count; i++) if (!agent_of(list[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  block_t block;
  return find_block((uint64_t)pointer, &block) ? OK : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

EXPORT hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to, bool *result) {
  NEEDS_OPEN();
  if (!result) return BAD;
  if (!pool_of(from.handle) || !pool_of(to.handle)) return HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  *result = false;
  return OK;
}

EXPORT hsa_status_t hsa_amd_pointer_info(const void *pointer, hsa_amd_pointer_info_t *info, void *(*alloc)(size_t),
                                         uint32_t *count, hsa_agent_t **accessible) {
  NEEDS_OPEN();
  if (!pointer || !info || info->size < offsetof(hsa_amd_pointer_info_t, agent_base)) return BAD;
  hsa_amd_pointer_info_t mine = {.size = info->size < sizeof mine ? info->size : sizeof mine};
  block_t block;
  bool found = find_block((uint64_t)pointer, &block);
  if (found) {
    agent_t *owner = block.pool ? block.pool->agent : &agents[0];
    mine.type = block.host ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA;
    mine.agent_base = (void *)block.base, mine.host_base = (void *)(block.host ? block.host : block.base);
    mine.bytes = block.size, mine.user_data = block.user, mine.owner = agent_handle(owner);
    mine.global_flags = block.pool ? pool_flags(block.pool) : HSA_GLOBAL_FLAG_FINE_GRAINED;
    mine.registered = block.host;
  }
  memcpy(info, &mine, mine.size);
  if (alloc && count && accessible) {
    *count = 0, *accessible = NULL;
    if (found) {
      *accessible = alloc(agent_count * sizeof **accessible);
      if (!*accessible) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
      *count = agent_count;
      for (int i = 0; i < agent_count; i++) (*accessible)[i] = agent_handle(&agents[i]);
    }
  }
  return OK;
}

static void set_user(block_t *block, void *data) { block->user = data; }
EXPORT hsa_status_t hsa_amd_pointer_info_set_userdata(const void *pointer, void *data) {
  NEEDS_OPEN();
  return change_block((uint64_t)pointer, set_user, data) ? OK : BAD;
}

EXPORT hsa_status_t hsa_memory_copy(void *to, const void *from, size_t size) {
  NEEDS_OPEN();
  if (!to || !from) return BAD;
  say(1, "memory_copy %p <- %p, %zu bytes", to, from, size);
  memmove((void *)host_side((uint64_t)to), (void *)host_side((uint64_t)from), size);
  note_write((uint64_t)to, size);
  return OK;
}

EXPORT hsa_status_t hsa_amd_memory_fill(void *pointer, uint32_t value, size_t count) {
  NEEDS_OPEN();
  if (!pointer || (uint64_t)pointer % 4) return BAD;
  uint32_t *at = (uint32_t *)host_side((uint64_t)pointer);
  for (size_t i = 0; i < count; i++) at[i] = value;
  note_write((uint64_t)pointer, 4 * count);
  return OK;
}
