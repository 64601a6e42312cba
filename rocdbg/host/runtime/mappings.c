/* Virtual memory: ranges of addresses, memory that has none of its own for the program, and which of it is where.
 *
 * Such memory is a block of the window, as any; mapping it lets its pages be at other addresses of the window too, here
 * and in rocdbg. Kernels of all GPUs may use what those of one may. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

enum { PAGE = 4096, NO_ACCESS = 0, READ_ONLY = 1, WRITE_ONLY = 2, READ_WRITE = 3, MEMORY_TYPES = 2, POSIX_FILE = 1 };

typedef struct memory {
  uint64_t base, size;
  pool_t *pool;
  uint32_t type, uses; /* handles and mappings of it */
  uint32_t handles;
  bool foreign;        /* attached: of another process */
  struct memory *next;
} memory_t;
typedef struct mapping {
  uint64_t base, size;
  memory_t *memory;
  uint8_t access[1 + MAX_AGENTS];
  struct mapping *next;
} mapping_t;
typedef struct range { uint64_t base, size; struct range *next; } range_t;
typedef struct { uint32_t permissions; hsa_agent_t agent; } access_description_t;
_Static_assert(sizeof(access_description_t) == 16, "hsa_amd_memory_access_desc_t");

/* What a file that stands for memory holds: whoever has it may have the memory. */
typedef struct { char what[16]; uint64_t token, base, size; uint32_t type; } ticket_t;
static const char TICKET[16] = "rocdbg memory 1";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held by each function below to its end */
static memory_t *memories;
static mapping_t *mappings;
static range_t *ranges;

void forget_mappings(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  memories = NULL, mappings = NULL, ranges = NULL;
}

static memory_t *memory_of(uint64_t handle) {
  memory_t *memory = memories;
  while (memory && ((uint64_t)memory != handle || !memory->handles)) memory = memory->next;
  return memory;
}

static memory_t *add_memory(uint64_t base, uint64_t size, pool_t *pool, uint32_t type, bool foreign) {
  memory_t *memory = malloc(sizeof *memory);
  if (!memory) return NULL;
  *memory = (memory_t){base, size, pool, type, 1, 1, foreign, memories};
  return memories = memory;
}

/* Memory goes when nobody has a handle and it is mapped nowhere. */
static hsa_status_t drop(memory_t *memory) {
  if (--memory->uses) return OK;
  memory_t **at = &memories;
  while (*at != memory) at = &(*at)->next;
  *at = memory->next;
  hsa_status_t status = memory->foreign ? detach_memory(memory->base, memory->size) : ask_number(REQUEST_FREE, memory->base, 0, 0, NULL);
  free(memory);
  return status;
}

/* -- ranges -- */
static hsa_status_t reserve(void **out, size_t size, uint64_t alignment) {
  NEEDS_OPEN();
  if (!out || !size || size % PAGE || alignment & (alignment - 1)) return BAD;
  range_t *range = malloc(sizeof *range);
  uint64_t base;
  if (!range || ask_number(REQUEST_RESERVE, size, alignment, 0, &base)) {
    free(range);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  pthread_mutex_lock(&lock);
  *range = (range_t){base, size, ranges}, ranges = range;
  pthread_mutex_unlock(&lock);
  *out = (void *)base;
  say(1, "vmem_address_reserve %zu bytes: %p", size, *out);
  return OK;
}

/* The address that is asked for is a wish, and rocdbg has its own. */
EXPORT hsa_status_t hsa_amd_vmem_address_reserve(void **out, size_t size, uint64_t address, uint64_t flags) {
  return reserve(out, size, 0);
}
EXPORT hsa_status_t hsa_amd_vmem_address_reserve_align(void **out, size_t size, uint64_t address, uint64_t alignment,
                                                       uint64_t flags) {
  return reserve(out, size, alignment);
}

static bool overlaps(uint64_t base, uint64_t size, const mapping_t *mapping) {
  return mapping->base < base + size && base < mapping->base + mapping->size;
}

EXPORT hsa_status_t hsa_amd_vmem_address_free(void *pointer, size_t size) {
  NEEDS_OPEN();
  uint64_t base = (uint64_t)pointer;
  hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
  pthread_mutex_lock(&lock);
  range_t **at = &ranges, *found;
  while (*at && ((*at)->base != base || (*at)->size != size)) at = &(*at)->next;
  mapping_t *mapping = mappings;
  while (mapping && !overlaps(base, size, mapping)) mapping = mapping->next;
  if ((found = *at)) {
    status = HSA_STATUS_ERROR_RESOURCE_FREE; /* something is still mapped there */
    if (!mapping) {
      *at = found->next;
      free(found);
      status = ask_number(REQUEST_FREE, base, 0, 0, NULL);
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

/* -- memory -- */
EXPORT hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t handle, size_t size, uint32_t type, uint64_t flags,
                                               uint64_t *out) {
  NEEDS_OPEN();
  pool_t *pool = pool_of(handle.handle);
  if (!pool || pool->kind == POOL_GROUP || !out || !size || size % PAGE || type >= MEMORY_TYPES) return BAD;
  uint64_t base = allocate(size, pool);
  if (!base) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  pthread_mutex_lock(&lock);
  memory_t *memory = add_memory(base, size, pool, type, false);
  pthread_mutex_unlock(&lock);
  *out = (uint64_t)memory;
  say(1, "vmem_handle_create %zu bytes: %p", size, (void *)memory);
  return memory ? OK : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

EXPORT hsa_status_t hsa_amd_vmem_handle_release(uint64_t handle) {
  NEEDS_OPEN();
  pthread_mutex_lock(&lock);
  memory_t *memory = memory_of(handle);
  hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (memory) {
    memory->handles--;
    status = drop(memory);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static mapping_t *mapping_at(uint64_t address) {
  mapping_t *mapping = mappings;
  while (mapping && !overlaps(address, 1, mapping)) mapping = mapping->next;
  return mapping;
}

EXPORT hsa_status_t hsa_amd_vmem_retain_alloc_handle(uint64_t *out, void *address) {
  NEEDS_OPEN();
  if (!out || !address) return BAD;
  pthread_mutex_lock(&lock);
  mapping_t *mapping = mapping_at((uint64_t)address);
  if (mapping) *out = (uint64_t)mapping->memory, mapping->memory->uses++, mapping->memory->handles++;
  pthread_mutex_unlock(&lock);
  return mapping ? OK : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

EXPORT hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(uint64_t handle, hsa_amd_memory_pool_t *pool, uint32_t *type) {
  NEEDS_OPEN();
  if (!pool || !type) return BAD;
  pthread_mutex_lock(&lock);
  memory_t *memory = memory_of(handle);
  if (memory) pool->handle = (uint64_t)memory->pool, *type = memory->type;
  pthread_mutex_unlock(&lock);
  return memory ? OK : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* -- which memory is where -- */
static hsa_status_t map(uint64_t base, uint64_t size, uint64_t offset, memory_t *memory) {
  mapping_t *mapping = calloc(1, sizeof *mapping);
  uint64_t arguments[REQUEST_ARGUMENTS] = {base, size, memory->base, offset};
  hsa_status_t status = mapping ? ask(REQUEST_MAP, arguments, NULL, 0, NULL, NULL) : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (!status) {
    /* Attached memory is in another file: mremap of size 0 duplicates shared pages, whosever they are. */
    void *from = (void *)(memory->base + offset), *to = (void *)base;
    block_t *block = mremap(from, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to ? note_block(base, size, 0, memory->pool) : NULL;
    if (block) block->mapped = true;
    else {
      uint64_t back[REQUEST_ARGUMENTS] = {base, size};
      ask(REQUEST_UNMAP, back, NULL, 0, NULL, NULL);
      status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
  }
  if (status) {
    free(mapping);
    return status;
  }
  *mapping = (mapping_t){base, size, memory, {0}, mappings}, mappings = mapping;
  memory->uses++;
  return OK;
}

EXPORT hsa_status_t hsa_amd_vmem_map(void *pointer, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
  NEEDS_OPEN();
  if (!pointer || !size || offset + size < size) return BAD;
  pthread_mutex_lock(&lock);
  memory_t *memory = memory_of(handle);
  hsa_status_t status = memory ? map((uint64_t)pointer, size, offset, memory) : HSA_STATUS_ERROR_INVALID_ALLOCATION;
  pthread_mutex_unlock(&lock);
  say(1, "vmem_map %p, %zu bytes: %#x", pointer, size, status);
  return status;
}

EXPORT hsa_status_t hsa_amd_vmem_unmap(void *pointer, size_t size) {
  NEEDS_OPEN();
  uint64_t base = (uint64_t)pointer;
  hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
  pthread_mutex_lock(&lock);
  mapping_t **at = &mappings, *found;
  while (*at && ((*at)->base != base || (*at)->size != size)) at = &(*at)->next;
  if ((found = *at)) {
    uint64_t arguments[REQUEST_ARGUMENTS] = {base, size};
    block_t block;
    status = ask(REQUEST_UNMAP, arguments, NULL, 0, NULL, NULL);
    take_block(base, &block);
    map_pages(base, size, -1, base - window_base);
    *at = found->next;
    hsa_status_t dropped = drop(found->memory);
    status = status ? status : dropped;
    free(found);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

/* Of all agents that were told what they may do, the GPUs count. */
static uint32_t set_one(mapping_t *mapping, const access_description_t *list, size_t count) {
  uint32_t together = NO_ACCESS;
  for (size_t i = 0; i < count; i++) mapping->access[agent_of(list[i].agent) - agents] = list[i].permissions;
  for (int i = 1; i < agent_count; i++) together |= mapping->access[i];
  return together;
}

EXPORT hsa_status_t hsa_amd_vmem_set_access(void *pointer, size_t size, const access_description_t *list, size_t count) {
  NEEDS_OPEN();
  if (!pointer || !size || !list || !count) return BAD;
  for (size_t i = 0; i < count; i++) {
    if (!agent_of(list[i].agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (list[i].permissions > READ_WRITE) return BAD;
  }
  uint64_t base = (uint64_t)pointer, covered = 0;
  hsa_status_t status = OK;
  pthread_mutex_lock(&lock);
  for (mapping_t *each = mappings; each; each = each->next)
    if (each->base >= base && each->base + each->size <= base + size) covered += each->size;
  if (covered != size) status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
  for (mapping_t *each = mappings; each && !status; each = each->next) {
    if (each->base < base || each->base + each->size > base + size) continue;
    status = ask_number(REQUEST_ACCESS, each->base, each->size, set_one(each, list, count), NULL);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

EXPORT hsa_status_t hsa_amd_vmem_get_access(void *pointer, uint32_t *permissions, hsa_agent_t handle) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  if (!pointer || !permissions) return BAD;
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  pthread_mutex_lock(&lock);
  mapping_t *mapping = mapping_at((uint64_t)pointer);
  if (mapping) *permissions = mapping->access[agent - agents];
  pthread_mutex_unlock(&lock);
  return mapping ? OK : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* -- memory of several processes: a file stands for it, which programs send to each other -- */
EXPORT hsa_status_t hsa_amd_vmem_export_shareable_handle(int *file, uint64_t handle, uint64_t flags) {
  NEEDS_OPEN();
  if (!file) return BAD;
  pthread_mutex_lock(&lock);
  memory_t *memory = memory_of(handle);
  ticket_t ticket = {.token = own_token};
  memcpy(ticket.what, TICKET, sizeof TICKET);
  if (memory) ticket.base = memory->base, ticket.size = memory->size, ticket.type = memory->type;
  bool exportable = memory && !memory->foreign;
  pthread_mutex_unlock(&lock);
  if (!memory) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (!exportable) return unsupported("hsa_amd_vmem_export_shareable_handle of imported memory");
  *file = memfd_create("rocdbg memory", MFD_CLOEXEC);
  if (*file < 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (pwrite(*file, &ticket, sizeof ticket, 0) == sizeof ticket) return OK;
  close(*file);
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

EXPORT hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, uint64_t *out) {
  NEEDS_OPEN();
  ticket_t ticket;
  if (!out || pread(file, &ticket, sizeof ticket, 0) != sizeof ticket || memcmp(ticket.what, TICKET, sizeof TICKET)) return BAD;
  uint64_t base;
  hsa_status_t status = attach_memory(ticket.token, ticket.base, ticket.size, &base);
  if (status) return status;
  pool_t *pool = &agents[1].pools[0];
  pthread_mutex_lock(&lock);
  memory_t *memory = add_memory(base, ticket.size, pool, ticket.type, true);
  pthread_mutex_unlock(&lock);
  *out = (uint64_t)memory;
  return memory ? OK : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}
