/* What the library says on standard error: errors always, calls if ROCDBG_HSA_LOG asks for them. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime.h"

static int log_level(void) {
  static int level = -1;
  if (level < 0) {
    const char *text = getenv("ROCDBG_HSA_LOG");
    level = text ? atoi(text) : 0;
  }
  return level;
}

/* One line. Level 0 is for what the user has to know, 1 for calls, 2 for frequent ones. */
void say(int level, const char *format, ...) {
  if (level > log_level()) return;
  char line[512] = "rocdbg: ";
  va_list list;
  va_start(list, format);
  int size = 8 + vsnprintf(line + 8, sizeof line - 9, format, list);
  va_end(list);
  if (size > (int)sizeof line - 2) size = sizeof line - 2;
  line[size++] = '\n';
  if (write(2, line, size) < 0) return; /* standard error may be closed */
}

/* A function that rocdbg does not have: says so once for each name. */
hsa_status_t unsupported(const char *function) {
  static const char *said[512];
  static int count;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < count && strcmp(said[i], function)) i++;
  bool first = i == count && count < 512;
  if (first) said[count++] = function;
  pthread_mutex_unlock(&lock);
  if (first) say(0, "%s is not supported by the simulated GPU", function);
  return HSA_STATUS_ERROR;
}

hsa_status_t unknown_attribute(const char *function, uint32_t attribute) {
  say(1, "%s: no attribute %#x", function, attribute);
  return BAD;
}
