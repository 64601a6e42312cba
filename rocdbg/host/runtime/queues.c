/* Queues: a ring of packets in the window. Programs write packets and indexes themselves; the GPU reads them there. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { QUEUE_TYPE_MULTI, QUEUE_TYPE_SINGLE, QUEUE_TYPE_COOPERATIVE, QUEUE_LEAST = 2, QUEUE_MOST = 131072 };
enum { PROPERTY_ENABLE_PROFILING = 1 << 3 };

typedef struct entry {
  amd_queue_t *queue;
  agent_t *agent;
  queue_error_callback_t callback;
  void *data;
  uint32_t mask_words;
  struct entry *next;
  uint32_t mask[4];
  uint64_t traces, traced; /* records of where packets come from, 0 if nobody wants any; packets that have one */
} entry_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry_t *queues;

void forget_queues(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  queues = NULL;
}

static bool find_queue(const void *queue, entry_t *found) {
  pthread_mutex_lock(&lock);
  entry_t *entry = queues;
  while (entry && (const void *)entry->queue != queue) entry = entry->next;
  if (entry) *found = *entry;
  pthread_mutex_unlock(&lock);
  return entry;
}

/* The packets that were written since this was asked last, for who rings. */
bool queue_to_trace(uint64_t address, queue_traces_t *traces) {
  pthread_mutex_lock(&lock);
  entry_t *entry = queues;
  while (entry && (uint64_t)entry->queue != address) entry = entry->next;
  bool wanted = entry && entry->traces;
  if (wanted) {
    uint64_t size = entry->queue->hsa_queue.size, end = __atomic_load_n(&entry->queue->write_dispatch_id, __ATOMIC_ACQUIRE);
    uint64_t first = end - entry->traced > size ? end - size : entry->traced;
    *traces = (queue_traces_t){entry->traces, size, first, end};
    entry->traced = end;
  }
  pthread_mutex_unlock(&lock);
  return wanted;
}

EXPORT hsa_status_t hsa_queue_create(hsa_agent_t handle, uint32_t size, uint32_t type, queue_error_callback_t callback, void *data,
                                     uint32_t private_size, uint32_t group_size, hsa_queue_t **out) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!out || size < QUEUE_LEAST || size > QUEUE_MOST || size & (size - 1) || type > QUEUE_TYPE_COOPERATIVE) return BAD;
  if (!agent->gpu) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  amd_signal_t *bell = new_signal(-1);
  entry_t *entry = calloc(1, sizeof *entry);
  uint64_t address;
  uint64_t arguments[REQUEST_ARGUMENTS] = {agent->node, size, type, (uint64_t)bell};
  reply_t reply;
  if (!bell || !entry || ask(REQUEST_QUEUE, arguments, NULL, 0, &reply, NULL)) {
    if (bell) free_signal(bell);
    free(entry);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  address = reply.values[0];
  bell->kind = AMD_SIGNAL_KIND_DOORBELL, bell->queue_ptr = address;
  *entry = (entry_t){(amd_queue_t *)address, agent, callback, data, 4, NULL, {~0u, ~0u, ~0u, ~0u}, reply.values[1], 0};
  pthread_mutex_lock(&lock);
  entry->next = queues, queues = entry;
  pthread_mutex_unlock(&lock);
  *out = &entry->queue->hsa_queue;
  say(1, "queue_create %u packets: %p", size, (void *)*out);
  return OK;
}

/* -- queues from descriptions, since ROCm 7 -- */
typedef struct {
  uint16_t version, flags;
  uint8_t engine, reserved1[3];
  uint32_t bytes, priority;
  queue_error_callback_t callback;
  void *data;
  hsa_queue_t *queue; /* what was made */
  struct { const uint32_t *mask; uint32_t type, private_size, mask_bits, reserved[3]; } compute;
  uint32_t traffic_class, reserved2[5];
} queue_description_t;
_Static_assert(sizeof(queue_description_t) == 96 && offsetof(queue_description_t, compute) == 40,
               "hsa_amd_queue_create_desc_t");
enum { ENGINE_COMPUTE, PACKET_BYTES = 64 };

hsa_status_t hsa_queue_destroy(hsa_queue_t *);
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *, uint32_t, const uint32_t *);

/* Flags say where the ring lies, which is the same here. */
static hsa_status_t create_described(hsa_agent_t agent, queue_description_t *of) {
  if (of->engine != ENGINE_COMPUTE) return unsupported("hsa_amd_queue_create of a queue for copies");
  if (of->bytes % PACKET_BYTES || of->compute.mask_bits % 32 || (of->compute.mask_bits && !of->compute.mask)) return BAD;
  hsa_status_t status = hsa_queue_create(agent, of->bytes / PACKET_BYTES, of->compute.type, of->callback, of->data,
                                         of->compute.private_size, 0, &of->queue);
  if (!status && of->compute.mask_bits)
    status = hsa_amd_queue_cu_set_mask(of->queue, of->compute.mask_bits, of->compute.mask);
  return status;
}

/* All of them or none. */
EXPORT hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, queue_description_t *list, uint32_t count) {
  NEEDS_OPEN();
  if (!list || !count) return BAD;
  hsa_status_t status = OK;
  for (uint32_t i = 0; i < count; i++) list[i].queue = NULL;
  for (uint32_t i = 0; i < count && !status; i++) status = create_described(agent, &list[i]);
  for (uint32_t i = 0; status && i < count; i++)
    if (list[i].queue) hsa_queue_destroy(list[i].queue), list[i].queue = NULL;
  return status;
}

/* Queues whose packets the program itself processes. */
EXPORT hsa_status_t hsa_soft_queue_create(hsa_region_t region, uint32_t size, uint32_t type, uint32_t features, hsa_signal_t bell,
                                          hsa_queue_t **out) {
  NEEDS_OPEN();
  pool_t *pool = pool_of(region.handle);
  if (!pool) return HSA_STATUS_ERROR_INVALID_REGION;
  if (!out || !size || size > QUEUE_MOST || size & (size - 1) || type > QUEUE_TYPE_SINGLE || !features || !bell.handle) return BAD;
  static _Atomic uint64_t number = 1ull << 32; /* apart from the GPU's */
  amd_queue_t *queue = (amd_queue_t *)allocate(sizeof *queue + 64ull * size, pool);
  if (!queue) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  note_block((uint64_t)queue, sizeof *queue + 64ull * size, 0, pool);
  queue->hsa_queue = (hsa_queue_t){type, features, queue + 1, bell, size, 0, number++};
  queue->read_dispatch_id_offset = offsetof(amd_queue_t, read_dispatch_id);
  for (uint32_t i = 0; i < size; i++) ((uint16_t *)(queue + 1))[32 * i] = PACKET_INVALID;
  *out = &queue->hsa_queue;
  return OK;
}

EXPORT hsa_status_t hsa_queue_destroy(hsa_queue_t *queue) {
  NEEDS_OPEN();
  if (!queue) return BAD;
  pthread_mutex_lock(&lock);
  entry_t **at = &queues;
  while (*at && &(*at)->queue->hsa_queue != queue) at = &(*at)->next;
  entry_t *entry = *at;
  if (entry) *at = entry->next;
  pthread_mutex_unlock(&lock);
  block_t block;
  if (!entry) { /* a soft queue is a block of its own */
    if (!find_block((uint64_t)queue, &block) || block.base != (uint64_t)queue) return HSA_STATUS_ERROR_INVALID_QUEUE;
    take_block(block.base, &block);
    return ask_number(REQUEST_FREE, block.base, 0, 0, NULL);
  }
  free(entry);
  amd_signal_t *bell = signal_of(queue->doorbell_signal);
  hsa_status_t status = ask_number(REQUEST_QUEUE_FREE, (uint64_t)queue, 0, 0, NULL);
  free_signal(bell);
  return status;
}

EXPORT hsa_status_t hsa_queue_inactivate(hsa_queue_t *queue) {
  NEEDS_OPEN();
  entry_t entry;
  if (!queue) return BAD;
  if (!find_queue(queue, &entry)) return HSA_STATUS_ERROR_INVALID_QUEUE;
  return ask_number(REQUEST_QUEUE_STOP, (uint64_t)queue, 0, 0, NULL);
}

/* What rocdbg says of a queue that an error has stopped. */
void queue_failed(uint64_t queue, hsa_status_t status) {
  entry_t entry;
  if (!find_queue((void *)queue, &entry)) return;
  const char *text = "";
  extern hsa_status_t hsa_status_string(hsa_status_t, const char **);
  hsa_status_string(status, &text);
  if (entry.callback) entry.callback(status, &entry.queue->hsa_queue, entry.data);
  else say(0, "queue %lu is inactive now: %s", entry.queue->hsa_queue.id, text);
}

#define Q ((amd_queue_t *)queue)
#define LOAD_INDEXES(order) \
  EXPORT uint64_t hsa_queue_load_read_index_##order(const hsa_queue_t *queue) { \
    return __atomic_load_n(&Q->read_dispatch_id, __ATOMIC_ACQUIRE); \
  } \
  EXPORT uint64_t hsa_queue_load_write_index_##order(const hsa_queue_t *queue) { \
    return __atomic_load_n(&Q->write_dispatch_id, __ATOMIC_ACQUIRE); \
  }
#define CHANGE_INDEXES(order) \
  EXPORT uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t n) { \
    return __atomic_fetch_add(&Q->write_dispatch_id, n, __ATOMIC_SEQ_CST); \
  } \
  EXPORT uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t *queue, uint64_t expected, uint64_t v) { \
    __atomic_compare_exchange_n(&Q->write_dispatch_id, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected; \
  }
#define STORE_INDEXES(order) \
  EXPORT void hsa_queue_store_write_index_##order(const hsa_queue_t *queue, uint64_t v) { \
    __atomic_store_n(&Q->write_dispatch_id, v, __ATOMIC_SEQ_CST); \
  } \
  EXPORT void hsa_queue_store_read_index_##order(const hsa_queue_t *queue, uint64_t v) { \
    __atomic_store_n(&Q->read_dispatch_id, v, __ATOMIC_SEQ_CST); \
  }
LOAD_INDEXES(relaxed) LOAD_INDEXES(scacquire) LOAD_INDEXES(acquire)
CHANGE_INDEXES(relaxed) CHANGE_INDEXES(scacquire) CHANGE_INDEXES(screlease) CHANGE_INDEXES(scacq_screl)
CHANGE_INDEXES(acquire) CHANGE_INDEXES(release) CHANGE_INDEXES(acq_rel)
STORE_INDEXES(relaxed) STORE_INDEXES(screlease) STORE_INDEXES(release)

/* The simulator takes the queues in turn, whatever their priority is. */
EXPORT hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, uint32_t priority) {
  NEEDS_OPEN();
  entry_t entry;
  if (!queue || !find_queue(queue, &entry)) return HSA_STATUS_ERROR_INVALID_QUEUE;
  return priority > 2 ? BAD : OK;
}

/* Masks of compute units are kept for those who ask; waves have no place that matters. */
EXPORT hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t bits, const uint32_t *mask) {
  NEEDS_OPEN();
  if (!queue || bits % 32 || (bits && !mask)) return BAD;
  pthread_mutex_lock(&lock);
  entry_t *entry = queues;
  while (entry && &entry->queue->hsa_queue != queue) entry = entry->next;
  for (uint32_t i = 0; entry && i < 4; i++) entry->mask[i] = !bits ? ~0u : i < bits / 32 ? mask[i] : 0;
  pthread_mutex_unlock(&lock);
  return entry ? OK : HSA_STATUS_ERROR_INVALID_QUEUE;
}
EXPORT hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t *queue, uint32_t bits, uint32_t *mask) {
  NEEDS_OPEN();
  entry_t entry;
  if (!queue || !mask || !bits || bits % 32) return BAD;
  if (!find_queue(queue, &entry)) return HSA_STATUS_ERROR_INVALID_QUEUE;
  uint32_t units = entry.agent->record.compute_units;
  for (uint32_t i = 0; i < bits / 32; i++) {
    uint32_t there = units >= 32 * (i + 1) ? ~0u : units > 32 * i ? (1u << (units - 32 * i)) - 1 : 0;
    mask[i] = i < 4 ? entry.mask[i] & there : 0;
  }
  return OK;
}

EXPORT hsa_status_t hsa_amd_queue_get_info(hsa_queue_t *queue, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  entry_t entry;
  if (!value) return BAD;
  if (!queue || !find_queue(queue, &entry)) return HSA_STATUS_ERROR_INVALID_QUEUE;
  switch (attribute) {
    case 0: *(hsa_agent_t *)value = agent_handle(entry.agent); return OK;
    case 1: *(uint64_t *)value = queue->doorbell_signal.handle; return OK;
    default: return unknown_attribute(__func__, attribute);
  }
}

EXPORT hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable) {
  NEEDS_OPEN();
  entry_t entry;
  if (!queue || !find_queue(queue, &entry)) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (enable) entry.queue->properties |= PROPERTY_ENABLE_PROFILING;
  else entry.queue->properties &= ~PROPERTY_ENABLE_PROFILING;
  return OK;
}
