/* Functions of the program that run when a signal comes to a value: one thread calls them, one after the other. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>

#include "runtime.h"

typedef struct handler {
  hsa_signal_t signal;
  hsa_signal_condition_t condition;
  int64_t value;
  hsa_amd_signal_handler_t function;
  void *data;
  struct handler *next;
} handler_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static handler_t *handlers, **last = &handlers;
static bool running;

/* A detached thread that no signal of the program is handled on. */
bool start_thread(void *(*body)(void *)) {
  sigset_t all, old;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool good = !pthread_create(&thread, NULL, body, NULL);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (good) pthread_detach(thread);
  return good;
}

static void append(handler_t *handler) {
  handler->next = NULL;
  *last = handler, last = &handler->next;
}

/* The first one that is due, taken out of the list. */
static handler_t *take_due(int64_t *value) {
  handler_t *found = NULL;
  pthread_mutex_lock(&lock);
  for (handler_t **at = &handlers; *at; at = &(*at)->next) {
    handler_t *handler = *at;
    *value = handler->signal.handle ? signal_value(handler->signal) : 0;
    if (handler->signal.handle && !condition_holds(*value, handler->condition, handler->value)) continue;
    *at = handler->next;
    if (last == &handler->next) last = at;
    found = handler;
    break;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static void *handle_forever(void *unused) {
  for (;;) {
    uint32_t seen = control->changes;
    int64_t value;
    handler_t *handler = take_due(&value);
    if (!handler) {
      wait_for_changes(seen, handlers ? LONGEST_NAP : 1000000000);
      continue;
    }
    if (handler->function(value, handler->data)) {
      pthread_mutex_lock(&lock);
      append(handler);
      pthread_mutex_unlock(&lock);
    } else {
      free(handler);
    }
  }
  return NULL;
}

static hsa_status_t add(handler_t what) {
  handler_t *handler = malloc(sizeof *handler);
  if (!handler) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *handler = what;
  pthread_mutex_lock(&lock);
  append(handler);
  bool good = running || (running = start_thread(handle_forever));
  pthread_mutex_unlock(&lock);
  signals_changed();
  return good ? OK : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

EXPORT hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t value,
                                                 hsa_amd_signal_handler_t function, void *data) {
  NEEDS_OPEN();
  if (!function || !signal.handle) return BAD;
  return add((handler_t){signal, condition, value, function, data, NULL});
}

typedef struct { void (*function)(void *); void *data; } call_t;
static bool call_once(hsa_signal_value_t value, void *data) {
  call_t *call = data;
  call->function(call->data);
  free(call);
  return false;
}
EXPORT hsa_status_t hsa_amd_async_function(void (*function)(void *), void *data) {
  NEEDS_OPEN();
  call_t *call = function ? malloc(sizeof *call) : NULL;
  if (!call) return function ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : BAD;
  *call = (call_t){function, data};
  return add((handler_t){.function = call_once, .data = call});
}

void forget_handlers(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  handlers = NULL, last = &handlers, running = false;
}
