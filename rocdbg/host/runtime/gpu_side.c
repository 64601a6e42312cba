/* What rocdbg does to memory that it shares with a program and Python has no means for: atomic changes and waking.
 *
 * This is a library of its own, for rocdbg's process. Addresses were checked by the caller. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout) {
  return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* How often there was work, at once or, where that is still `seen`, when there is more or after a time. */
EXPORT uint32_t rocdbg_wait_for_work(control_t *control, uint32_t seen, uint64_t nanoseconds) {
  struct timespec nap = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  for (uint64_t end = now() + WATCHED; nanoseconds && control->work == seen && now() < end;) sched_yield();
  control->gpu_waits = 1;
  if (control->work == seen && nanoseconds) futex(&control->work, FUTEX_WAIT, seen, &nap);
  control->gpu_waits = 0;
  return control->work;
}

/* Let who waits for work look again: something has changed that is no packet. */
EXPORT void rocdbg_more_work(control_t *control) {
  control->work++;
  futex(&control->work, FUTEX_WAKE, INT_MAX, NULL);
}

/* A kernel may have changed signals. */
EXPORT void rocdbg_signals_changed(control_t *control) {
  control->changes++;
  if (control->host_waits) futex(&control->changes, FUTEX_WAKE, INT_MAX, NULL);
}

/* A packet is done: its slot is free again, then the signal says so, if there is one. The order is the one in which
 * programs look. */
EXPORT void rocdbg_finish(control_t *control, uint16_t *header, uint64_t *read_index, uint64_t next,
                          amd_signal_t *signal, uint64_t start) {
  __atomic_store_n(header, PACKET_INVALID, __ATOMIC_RELEASE);
  __atomic_store_n(read_index, next, __ATOMIC_RELEASE);
  if (!signal) return;
  signal->start_ts = start, signal->end_ts = now();
  __atomic_fetch_sub(&signal->value, 1, __ATOMIC_SEQ_CST);
  rocdbg_signals_changed(control);
}
