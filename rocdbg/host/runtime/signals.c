/* Signals: 64-bit values in the window that both sides change and wait for.
 *
 * Whoever changes one counts that in `control->changes` and wakes those who sleep on that word, whichever signal they
 * wait for. The GPU does the same. A store to a doorbell wakes the GPU. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

enum { SIGNALS_AT_ONCE = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static amd_signal_t *unused; /* linked by queue_ptr */
typedef struct slab { amd_signal_t *first; struct slab *next; } slab_t;
static slab_t *slabs; /* blocks of signals */

uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

amd_signal_t *new_signal(int64_t value) {
  pthread_mutex_lock(&lock);
  if (!unused) {
    amd_signal_t *fresh = (amd_signal_t *)allocate(SIGNALS_AT_ONCE * sizeof *fresh, &agents[0].pools[0]);
    slab_t *slab = fresh ? malloc(sizeof *slab) : NULL;
    if (slab) *slab = (slab_t){fresh, slabs}, slabs = slab;
    for (int i = SIGNALS_AT_ONCE - 1; fresh && i >= 0; i--) fresh[i].queue_ptr = (uint64_t)unused, unused = &fresh[i];
  }
  amd_signal_t *signal = unused;
  if (signal) unused = (amd_signal_t *)signal->queue_ptr;
  pthread_mutex_unlock(&lock);
  if (signal) *signal = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = value};
  return signal;
}

void free_signal(amd_signal_t *signal) {
  pthread_mutex_lock(&lock);
  signal->kind = AMD_SIGNAL_KIND_INVALID;
  signal->queue_ptr = (uint64_t)unused, unused = signal;
  pthread_mutex_unlock(&lock);
}

void forget_signals(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  unused = NULL, slabs = NULL;
}

/* The block that a signal of this process lies in. */
bool signals_block(hsa_signal_t signal, uint64_t *base, uint64_t *size) {
  *size = SIGNALS_AT_ONCE * sizeof(amd_signal_t);
  pthread_mutex_lock(&lock);
  slab_t *slab = slabs;
  while (slab && signal.handle - (uint64_t)slab->first >= *size) slab = slab->next;
  if (slab) *base = (uint64_t)slab->first;
  pthread_mutex_unlock(&lock);
  return slab;
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout) {
  return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* The counts come before the look at who waits, and waiting threads say so before they look at the counts. */
void signals_changed(void) {
  control->changes++;
  if (control->host_waits) futex(&control->changes, FUTEX_WAKE, INT_MAX, NULL);
  control->work++;
  if (control->gpu_waits) futex(&control->work, FUTEX_WAKE, INT_MAX, NULL);
}

void wait_for_changes(uint32_t seen, uint64_t nanoseconds) {
  struct timespec nap = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  control->host_waits++;
  futex(&control->changes, FUTEX_WAIT, seen, &nap);
  control->host_waits--;
}

bool condition_holds(int64_t value, hsa_signal_condition_t condition, int64_t other) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ: return value == other;
    case HSA_SIGNAL_CONDITION_NE: return value != other;
    case HSA_SIGNAL_CONDITION_LT: return value < other;
    default: return value >= other;
  }
}

/* The first of several signals whose condition holds, or with `all`, 0 when every one has held; -1 after the timeout. */
static int64_t wait_for(uint32_t count, const hsa_signal_t *signals, const hsa_signal_condition_t *conditions,
                        const int64_t *values, uint64_t timeout, bool all, int64_t *last) {
  uint64_t start = now();
  for (uint32_t done = 0;;) {
    uint32_t seen = control->changes;
    for (uint32_t i = all ? done : 0; i < count; i++) {
      int64_t value = signal_value(signals[i]);
      bool holds = condition_holds(value, conditions[i], values[i]);
      last[all ? i : 0] = value;
      if (holds && !all) return i;
      if (!holds && all) break;
      if (all) done = i + 1;
    }
    if (all && done == count) return 0;
    uint64_t spent = now() - start;
    if (timeout != UINT64_MAX && spent >= timeout) return -1;
    if (spent < WATCHED) {
      sched_yield();
      continue;
    }
    uint64_t left = timeout - spent;
    wait_for_changes(seen, left < LONGEST_NAP ? left : LONGEST_NAP);
  }
}

static int64_t wait_one(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t other, uint64_t timeout) {
  int64_t value = 0;
  wait_for(1, &signal, &condition, &other, timeout, false, &value);
  return value;
}

static void ring_or_store(hsa_signal_t handle, int64_t value, bool loud) {
  amd_signal_t *signal = signal_of(handle);
  if (signal->kind == AMD_SIGNAL_KIND_DOORBELL) note_ring(signal);
  __atomic_store_n(&signal->value, value, __ATOMIC_SEQ_CST);
  if (signal->kind == AMD_SIGNAL_KIND_DOORBELL) {
    control->work++;
    if (control->gpu_waits) futex(&control->work, FUTEX_WAKE, INT_MAX, NULL);
  } else if (loud) {
    signals_changed();
  }
}

EXPORT hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers, hsa_signal_t *out) {
  NEEDS_OPEN();
  if (!out || (count && !consumers)) return BAD;
  for (uint32_t i = 0; i < count; i++) if (!agent_of(consumers[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  amd_signal_t *signal = new_signal(value);
  out->handle = (uint64_t)signal;
  return signal ? OK : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}
EXPORT hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                          uint64_t attributes, hsa_signal_t *out) {
  return hsa_signal_create(value, count, consumers, out);
}
EXPORT hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  NEEDS_OPEN();
  if (!signal.handle) return BAD;
  if (!in_window(signal.handle) || signal_of(signal)->kind != AMD_SIGNAL_KIND_USER) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  block_t block;
  if (find_block(signal.handle, &block) && block.mapped) return detach_memory(block.base, block.size); /* another process's */
  free_signal(signal_of(signal));
  return OK;
}

/* One definition for each memory order: all are done in sequentially consistent order. */
#define EACH_LOAD(X) X(relaxed) X(scacquire) X(acquire)
#define EACH_STORE(X) X(relaxed) X(screlease) X(release)
#define EACH_CHANGE(X, ...) \
  X(relaxed, __VA_ARGS__) X(scacquire, __VA_ARGS__) X(screlease, __VA_ARGS__) X(scacq_screl, __VA_ARGS__) \
  X(acquire, __VA_ARGS__) X(release, __VA_ARGS__) X(acq_rel, __VA_ARGS__)

#define LOAD(order) EXPORT hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t s) { return signal_value(s); }
EACH_LOAD(LOAD)
#define STORE(order) EXPORT void hsa_signal_store_##order(hsa_signal_t s, hsa_signal_value_t v) { ring_or_store(s, v, true); }
EACH_STORE(STORE)
EXPORT void hsa_signal_silent_store_relaxed(hsa_signal_t s, hsa_signal_value_t v) { ring_or_store(s, v, false); }
EXPORT void hsa_signal_silent_store_screlease(hsa_signal_t s, hsa_signal_value_t v) { ring_or_store(s, v, false); }

#define CHANGE(order, name, change) \
  EXPORT void hsa_signal_##name##_##order(hsa_signal_t s, hsa_signal_value_t v) { \
    change(&signal_of(s)->value, v, __ATOMIC_SEQ_CST); \
    signals_changed(); \
  }
EACH_CHANGE(CHANGE, add, __atomic_fetch_add)
EACH_CHANGE(CHANGE, subtract, __atomic_fetch_sub)
EACH_CHANGE(CHANGE, and, __atomic_fetch_and)
EACH_CHANGE(CHANGE, or, __atomic_fetch_or)
EACH_CHANGE(CHANGE, xor, __atomic_fetch_xor)

#define EXCHANGE(order, name) \
  EXPORT hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t s, hsa_signal_value_t v) { \
    int64_t old = __atomic_exchange_n(&signal_of(s)->value, v, __ATOMIC_SEQ_CST); \
    signals_changed(); \
    return old; \
  } \
  EXPORT hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t s, hsa_signal_value_t expected, hsa_signal_value_t v) { \
    __atomic_compare_exchange_n(&signal_of(s)->value, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    signals_changed(); \
    return expected; \
  }
EACH_CHANGE(EXCHANGE, _)

#define WAIT(order) \
  EXPORT hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t s, hsa_signal_condition_t condition, \
                                                    hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t hint) { \
    return wait_one(s, condition, value, timeout); \
  }
EACH_LOAD(WAIT)

EXPORT hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **out) {
  NEEDS_OPEN();
  if (!out) return BAD;
  if (signal_of(signal)->kind != AMD_SIGNAL_KIND_USER) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *out = &signal_of(signal)->value;
  return OK;
}

EXPORT uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
                                        hsa_signal_value_t *values, uint64_t timeout, hsa_wait_state_t hint,
                                        hsa_signal_value_t *satisfying) {
  int64_t value = 0;
  int64_t found = wait_for(count, signals, conditions, values, timeout, false, &value);
  if (found >= 0 && satisfying) *satisfying = value;
  return found < 0 ? UINT32_MAX : found;
}

EXPORT uint32_t hsa_amd_signal_wait_all(uint32_t count, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
                                        hsa_signal_value_t *values, uint64_t timeout, hsa_wait_state_t hint,
                                        hsa_signal_value_t *satisfying) {
  int64_t *last = satisfying ? satisfying : calloc(count ? count : 1, sizeof *last);
  if (!last) return UINT32_MAX;
  int64_t found = wait_for(count, signals, conditions, values, timeout, true, last);
  if (!satisfying) free(last);
  return found < 0 ? UINT32_MAX : 0;
}

/* -- groups: a list of signals to wait for -- */
typedef struct { uint32_t count; hsa_signal_t signals[]; } group_t;

EXPORT hsa_status_t hsa_signal_group_create(uint32_t count, const hsa_signal_t *signals, uint32_t consumers,
                                            const hsa_agent_t *list, hsa_signal_group_t *out) {
  NEEDS_OPEN();
  if (!count || !signals || !out || (consumers && !list)) return BAD;
  group_t *group = malloc(sizeof *group + count * sizeof *signals);
  if (!group) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  group->count = count;
  memcpy(group->signals, signals, count * sizeof *signals);
  out->handle = (uint64_t)group;
  return OK;
}
EXPORT hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t group) {
  NEEDS_OPEN();
  if (!group.handle) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
  free((group_t *)group.handle);
  return OK;
}
EXPORT hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t handle, const hsa_signal_condition_t *conditions,
                                                        const hsa_signal_value_t *values, hsa_wait_state_t hint,
                                                        hsa_signal_t *signal, hsa_signal_value_t *value) {
  NEEDS_OPEN();
  group_t *group = (group_t *)handle.handle;
  if (!group) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
  if (!conditions || !values || !signal || !value) return BAD;
  *signal = group->signals[wait_for(group->count, group->signals, conditions, values, UINT64_MAX, false, value)];
  return OK;
}
EXPORT hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t handle, const hsa_signal_condition_t *conditions,
                                                      const hsa_signal_value_t *values, hsa_wait_state_t hint,
                                                      hsa_signal_t *signal, hsa_signal_value_t *value) {
  return hsa_signal_group_wait_any_scacquire(handle, conditions, values, hint, signal, value);
}
