/* Asynchronous copies: what the DMA engines of a card do. A thread makes those whose dependencies are 0, in any order,
 * because a copy may wait for one that was asked for later. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* Rows of `size` bytes, or with `swap` their exchange. */
typedef struct copy {
  char *to, *from;
  size_t size, rows, slices, to_pitch, from_pitch, to_slice, from_slice;
  bool swap, to_indirect, from_indirect; /* indirect: the address is found at the address when the time comes */
  hsa_signal_t done;
  struct copy *next;
  struct copy *member; /* of one batch: made after this one, at once */
  uint32_t count;
  hsa_signal_t dependencies[];
} copy_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static copy_t *copies, **last = &copies;
static bool running, profiled;

static void exchange(char *a, char *b, size_t size) {
  for (size_t i = 0; i < size; i++) {
    char byte = a[i];
    a[i] = b[i], b[i] = byte;
  }
}

static char *resolve(char *address, bool indirect) {
  return (char *)host_side(indirect ? *(uint64_t *)host_side((uint64_t)address) : (uint64_t)address);
}

static void make(copy_t *copy) {
  uint64_t start = now();
  char *to = resolve(copy->to, copy->to_indirect), *from = resolve(copy->from, copy->from_indirect);
  for (size_t z = 0; z < copy->slices; z++)
    for (size_t y = 0; y < copy->rows; y++) {
      char *row = to + z * copy->to_slice + y * copy->to_pitch, *source = from + z * copy->from_slice + y * copy->from_pitch;
      if (copy->swap) exchange(row, source, copy->size);
      else memmove(row, source, copy->size);
    }
  if (copy->size && copy->rows && copy->slices)
    note_write((uint64_t)to, (copy->slices - 1) * copy->to_slice + (copy->rows - 1) * copy->to_pitch + copy->size);
  if (copy->swap) note_write((uint64_t)from, copy->size);
  if (!copy->done.handle) return;
  amd_signal_t *signal = signal_of(copy->done);
  signal->start_ts = start, signal->end_ts = now();
  __atomic_fetch_sub(&signal->value, 1, __ATOMIC_SEQ_CST);
  signals_changed();
}

static bool ready(const copy_t *copy) {
  for (uint32_t i = 0; i < copy->count; i++)
    if (copy->dependencies[i].handle && signal_value(copy->dependencies[i])) return false;
  return true;
}

static copy_t *take_ready(void) {
  copy_t *found = NULL;
  pthread_mutex_lock(&lock);
  for (copy_t **at = &copies; *at && !found; at = found ? at : &(*at)->next)
    if (ready(*at)) {
      found = *at, *at = found->next;
      if (last == &found->next) last = at;
    }
  pthread_mutex_unlock(&lock);
  return found;
}

static void *copy_forever(void *unused) {
  for (;;) {
    uint32_t seen = control->changes;
    copy_t *copy = take_ready();
    if (!copy) wait_for_changes(seen, copies ? LONGEST_NAP : 1000000000);
    while (copy) {
      copy_t *next = copy->member;
      make(copy);
      free(copy);
      copy = next;
    }
  }
  return NULL;
}

static copy_t *new_copy(uint32_t count, const hsa_signal_t *dependencies) {
  copy_t *copy = calloc(1, sizeof *copy + count * sizeof *dependencies);
  if (!copy) return NULL;
  copy->rows = copy->slices = 1, copy->count = count;
  if (count) memcpy(copy->dependencies, dependencies, count * sizeof *dependencies);
  return copy;
}

static hsa_status_t submit(copy_t *copy) {
  pthread_mutex_lock(&lock);
  *last = copy, last = &copy->next;
  bool good = running || (running = start_thread(copy_forever));
  pthread_mutex_unlock(&lock);
  signals_changed();
  return good ? OK : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

void forget_copies(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  copies = NULL, last = &copies, running = false;
}

static bool dependencies_valid(uint32_t count, const hsa_signal_t *dependencies) { return !count == !dependencies || dependencies; }

EXPORT hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size,
                                              uint32_t count, const hsa_signal_t *dependencies, hsa_signal_t done) {
  NEEDS_OPEN();
  if (!to || !from || !dependencies_valid(count, dependencies)) return BAD;
  if (!agent_of(to_agent) || !agent_of(from_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  say(1, "memory_async_copy %p <- %p, %zu bytes, %u dependencies", to, from, size, count);
  copy_t *copy = new_copy(count, dependencies);
  if (!copy) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  copy->to = to, copy->from = (char *)from, copy->size = size, copy->done = done;
  return submit(copy);
}

EXPORT hsa_status_t hsa_amd_memory_async_copy_on_engine(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                                                        size_t size, uint32_t count, const hsa_signal_t *dependencies,
                                                        hsa_signal_t done, uint32_t engine, bool force) {
  NEEDS_OPEN();
  if (!engine || engine & (engine - 1)) return BAD;
  return hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, count, dependencies, done);
}

/* One engine, always free. */
EXPORT hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to, hsa_agent_t from, uint32_t *mask) {
  NEEDS_OPEN();
  if (!agent_of(to) || !agent_of(from)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!mask) return BAD;
  *mask = 1;
  return OK;
}
EXPORT hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t to, hsa_agent_t from, uint32_t *mask) {
  return hsa_amd_memory_copy_engine_status(to, from, mask);
}

EXPORT hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                                   const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
                                                   const hsa_dim3_t *range, hsa_agent_t agent, uint32_t direction, uint32_t count,
                                                   const hsa_signal_t *dependencies, hsa_signal_t done) {
  NEEDS_OPEN();
  if (!to || !to_offset || !from || !from_offset || !range || !dependencies_valid(count, dependencies)) return BAD;
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if ((range->y > 1 || range->z > 1) && (to->pitch < range->x || from->pitch < range->x)) return BAD;
  copy_t *copy = new_copy(count, dependencies);
  if (!copy) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  copy->to = (char *)to->base + to_offset->x + to_offset->y * to->pitch + to_offset->z * to->slice;
  copy->from = (char *)from->base + from_offset->x + from_offset->y * from->pitch + from_offset->z * from->slice;
  copy->size = range->x, copy->rows = range->y, copy->slices = range->z;
  copy->to_pitch = to->pitch, copy->from_pitch = from->pitch, copy->to_slice = to->slice, copy->from_slice = from->slice;
  copy->done = done;
  say(1, "memory_async_copy_rect %u x %u x %u", range->x, range->y, range->z);
  return submit(copy);
}

/* -- batches, since ROCm 7 -- */
typedef struct {
  uint16_t version, type, entries, traffic_class;
  hsa_signal_t done;
  void *from;            /* or a list of addresses */
  hsa_agent_t from_agent;
  hsa_agent_t to_agent;  /* or the address of a list */
  void *to;              /* or a list of addresses */
  size_t size;           /* or the address of a list */
  size_t to_size;
  struct { uint16_t function, scope; uint32_t reserved; void *address; uint64_t value, mask; } wait;
  struct { uint16_t operation, scope; uint32_t reserved; void *address; uint64_t data; } signal;
  uint64_t reserved;
} copy_op_t;
_Static_assert(sizeof(copy_op_t) == 128 && offsetof(copy_op_t, wait) == 64, "hsa_amd_memory_copy_op_t");
enum { LINEAR, BROADCAST, SWAP, INDIRECT_FROM, INDIRECT_TO, INDIRECT_BOTH, KINDS_OF_COPIES };

static copy_t *member_of(const copy_op_t *op, uint32_t index, bool final, uint32_t count, const hsa_signal_t *dependencies) {
  copy_t *copy = new_copy(count, dependencies);
  if (!copy) return NULL;
  bool listed = op->entries && op->type != BROADCAST;
  copy->from = listed ? ((char **)op->from)[index] : op->from;
  copy->to = op->entries ? ((char **)op->to)[index] : op->to;
  copy->size = listed ? ((size_t *)op->size)[index] : op->size;
  copy->swap = op->type == SWAP;
  copy->from_indirect = op->type == INDIRECT_FROM || op->type == INDIRECT_BOTH;
  copy->to_indirect = op->type == INDIRECT_TO || op->type == INDIRECT_BOTH;
  if (final) copy->done = op->done;
  return copy;
}

EXPORT hsa_status_t hsa_amd_memory_async_batch_copy(const copy_op_t *ops, uint32_t op_count, uint32_t count,
                                                    const hsa_signal_t *dependencies) {
  NEEDS_OPEN();
  if (!ops || !op_count || !dependencies_valid(count, dependencies)) return BAD;
  for (uint32_t i = 0; i < op_count; i++) {
    const copy_op_t *op = &ops[i];
    if (op->type >= KINDS_OF_COPIES || !op->from || !op->to || (op->type == BROADCAST && !op->entries)) return BAD;
    if (op->wait.function || op->signal.operation) return unsupported("hsa_amd_memory_async_batch_copy with wait or signal");
    if (op->type == SWAP && !op->entries && op->to_size != op->size) return BAD;
  }
  for (uint32_t i = 0; i < op_count; i++) {
    copy_t *first = NULL, **at = &first;
    uint32_t members = ops[i].entries ? ops[i].entries : 1;
    for (uint32_t k = 0; k < members; k++, at = &(*at)->member)
      if (!(*at = member_of(&ops[i], k, k + 1 == members, count, dependencies))) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    hsa_status_t status = submit(first);
    if (status) return status;
  }
  return OK;
}

/* -- profiling: copies and dispatches always leave their times in the signal -- */
EXPORT hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable) {
  NEEDS_OPEN();
  profiled = enable;
  return OK;
}
EXPORT hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_time_t *time) {
  NEEDS_OPEN();
  if (!time || !signal.handle) return BAD;
  if (!profiled) return HSA_STATUS_ERROR;
  *time = (hsa_amd_profiling_time_t){signal_of(signal)->start_ts, signal_of(signal)->end_ts};
  return OK;
}
EXPORT hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal, hsa_amd_profiling_time_t *time) {
  NEEDS_OPEN();
  if (!time || !signal.handle) return BAD;
  agent_t *who = agent_of(agent);
  if (!who || !who->gpu) return HSA_STATUS_ERROR_INVALID_AGENT;
  *time = (hsa_amd_profiling_time_t){signal_of(signal)->start_ts, signal_of(signal)->end_ts};
  return OK;
}
EXPORT hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick, uint64_t *system) {
  NEEDS_OPEN();
  if (!system) return BAD;
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  *system = tick; /* one clock */
  return OK;
}
