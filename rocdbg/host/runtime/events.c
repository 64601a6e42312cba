/* What rocdbg asks of the program: to share pinned pages, to hear of faults and of queues that have failed.
 *
 * Requests come over a connection of their own and are answered one after the other; callbacks of the program run on a
 * second thread, because they may take long or never return. When the connection ends, rocdbg has ended. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime.h"

typedef struct handler { hsa_amd_system_event_callback_t function; void *data; struct handler *next; } handler_t;
typedef struct trouble { uint32_t kind; uint64_t arguments[3]; struct trouble *next; } trouble_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static handler_t *handlers;
static trouble_t *troubles;
static int events = -1;

EXPORT hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t function, void *data) {
  NEEDS_OPEN();
  if (!function) return BAD;
  handler_t *handler = malloc(sizeof *handler);
  if (!handler) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  pthread_mutex_lock(&lock);
  handler_t **at = &handlers;
  while (*at) at = &(*at)->next;
  *handler = (handler_t){function, data, NULL}, *at = handler;
  pthread_mutex_unlock(&lock);
  return OK;
}

/* As ROCr: handlers are asked; if none takes care, the process ends. */
static void memory_fault(uint64_t node, uint64_t address, uint64_t reason) {
  if (node >= (uint64_t)agent_count) return;
  hsa_amd_event_t event = {0, {agent_handle(&agents[node]), address, reason}};
  bool handled = false;
  for (handler_t *h = handlers; h; h = h->next) handled |= h->function(&event, h->data) == OK;
  if (handled) return;
  fprintf(stderr, "Memory access fault by GPU node-%lu (Agent handle: %#lx) on address %#lx. Reason: %s.\n", node,
          (uint64_t)&agents[node], address & ~4095ul,
          reason & FAULT_READ_ONLY ? "Write access to a read-only page" : "Page not present or supervisor privilege");
  abort();
}

static void *run_callbacks(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!troubles) pthread_cond_wait(&arrived, &lock);
    trouble_t *trouble = troubles;
    troubles = trouble->next;
    pthread_mutex_unlock(&lock);
    const uint64_t *a = trouble->arguments;
    if (trouble->kind == EVENT_FAULT) memory_fault(a[0], a[1], a[2]);
    else queue_failed(a[0], a[1]);
    free(trouble);
  }
  return NULL;
}

static uint32_t report(const request_t *request) {
  trouble_t *trouble = malloc(sizeof *trouble);
  if (!trouble) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const uint64_t *a = request->arguments;
  *trouble = (trouble_t){request->operation, {a[0], a[1], a[2]}, NULL};
  pthread_mutex_lock(&lock);
  trouble_t **at = &troubles;
  while (*at) at = &(*at)->next;
  *at = trouble;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&lock);
  return OK;
}

static void *answer_forever(void *unused) {
  request_t request;
  while (receive_all(events, &request, sizeof request)) {
    reply_t reply = {0};
    switch (request.operation) {
      case EVENT_SHARE: reply.status = share_pages(request.arguments[0]) ? OK : HSA_STATUS_ERROR_OUT_OF_RESOURCES; break;
      case EVENT_FAULT:
      case EVENT_QUEUE_ERROR: reply.status = report(&request); break;
      default: reply.status = BAD;
    }
    if (!send_all(events, &reply, sizeof reply)) break;
  }
  debugger_gone();
}

bool start_events(void) {
  events = open_events();
  return events >= 0 && start_thread(answer_forever) && start_thread(run_callbacks);
}

void forget_events(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  arrived = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  handlers = NULL, troubles = NULL;
  if (events >= 0) close(events);
  events = -1;
}
