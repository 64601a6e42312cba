/* Where in the program packets were announced: the stack of the thread that rang the doorbell, for a debugger that asked
 * for it when the queue was made. Each slot of the ring has a record in memory that rocdbg gave for that. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
static int backtrace(void **frames, int count) { return 0; }
#endif

#include "runtime.h"

typedef struct {
  uint64_t packet; /* its index, and 1 more: 0 is none */
  uint64_t thread, count;
  uint64_t frames[TRACE_FRAMES]; /* return addresses, innermost first */
} trace_t;
_Static_assert(sizeof(trace_t) == TRACE_SIZE, "the wire");

extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

static bool in_this_library(const void *code) { return (const char *)code >= __ehdr_start && (const char *)code < _end; }

enum { OWN_FRAMES = 3 }; /* this function's, those that have called it in this library */

__attribute__((noinline)) void note_ring(amd_signal_t *bell) {
  queue_traces_t traces;
  if (!queue_to_trace(bell->queue_ptr, &traces)) return;
  void *frames[OWN_FRAMES + TRACE_FRAMES];
  int count = backtrace(frames, OWN_FRAMES + TRACE_FRAMES), first = 0;
  while (first < count && in_this_library(frames[first])) first++;
  trace_t trace = {0, syscall(SYS_gettid), count - first};
  for (int i = first; i < count && i - first < TRACE_FRAMES; i++) trace.frames[i - first] = (uint64_t)frames[i];
  if (trace.count > TRACE_FRAMES) trace.count = TRACE_FRAMES;
  for (uint64_t packet = traces.first; packet < traces.end; packet++) {
    trace_t *slot = (trace_t *)traces.address + packet % traces.size;
    __atomic_store_n(&slot->packet, 0, __ATOMIC_RELEASE);
    slot->thread = trace.thread, slot->count = trace.count;
    for (uint64_t i = 0; i < trace.count; i++) slot->frames[i] = trace.frames[i];
    __atomic_store_n(&slot->packet, packet + 1, __ATOMIC_RELEASE);
  }
}
