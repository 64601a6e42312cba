/* Start and end of the library, and what it says of itself: hsa_init, hsa_system_get_info, extensions, status texts. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "runtime.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t users; /* hsa_init is counted */

EXPORT hsa_status_t hsa_init(void) {
  hsa_status_t status = OK;
  pthread_mutex_lock(&lock);
  if (!is_open()) {
    users = 0;
    status = open_connection();
    if (!status && !start_events()) status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  if (!status) users++;
  pthread_mutex_unlock(&lock);
  say(1, "init: %#x", status);
  return status;
}

/* The connection stays: runtimes shut down while their threads still use signals, and some start again. */
EXPORT hsa_status_t hsa_shut_down(void) {
  pthread_mutex_lock(&lock);
  bool good = is_open() && users;
  if (good) users--;
  pthread_mutex_unlock(&lock);
  return good ? OK : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

static const struct { hsa_status_t status; const char *text; } texts[] = {
#define TEXT(name, text) {name, #name ": " text}
  TEXT(HSA_STATUS_SUCCESS, "The function has been executed successfully."),
  TEXT(HSA_STATUS_INFO_BREAK, "A traversal has been stopped by the application."),
  TEXT(HSA_STATUS_ERROR, "An error has occurred."),
  TEXT(HSA_STATUS_ERROR_INVALID_ARGUMENT, "An argument is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "The agent does not support such a queue."),
  TEXT(HSA_STATUS_ERROR_INVALID_ALLOCATION, "The allocation is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_AGENT, "The agent is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_REGION, "The memory region is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_SIGNAL, "The signal is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_QUEUE, "The queue is not valid."),
  TEXT(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "The host or the simulated GPU does not have enough resources."),
  TEXT(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "The format of a packet is not valid."),
  TEXT(HSA_STATUS_ERROR_RESOURCE_FREE, "A resource could not be freed."),
  TEXT(HSA_STATUS_ERROR_NOT_INITIALIZED, "hsa_init has not been called."),
  TEXT(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "A reference counter has reached its maximum."),
  TEXT(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "The arguments are not compatible with each other."),
  TEXT(HSA_STATUS_ERROR_INVALID_INDEX, "The index is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_ISA, "The instruction set is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_ISA_NAME, "The name of the instruction set is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "The code object is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_EXECUTABLE, "The executable is not valid."),
  TEXT(HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "The executable is frozen."),
  TEXT(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "No symbol has this name."),
  TEXT(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "The variable is defined already."),
  TEXT(HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "The variable is not defined."),
  TEXT(HSA_STATUS_ERROR_EXCEPTION, "A kernel has raised an exception."),
  TEXT(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "The code object symbol is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "The executable symbol is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_FILE, "The file cannot be used."),
  TEXT(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "The code object reader is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_CACHE, "The cache is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_WAVEFRONT, "The wavefront is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "The signal group is not valid."),
  TEXT(HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "The runtime cannot do this in its present state."),
  TEXT(HSA_STATUS_ERROR_FATAL, "The runtime cannot continue."),
  TEXT(HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "The memory pool is not valid."),
  TEXT(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "A kernel has accessed memory beyond an aperture."),
  TEXT(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "A kernel has executed an illegal instruction."),
  TEXT(HSA_STATUS_ERROR_MEMORY_FAULT, "A kernel has accessed memory that does not exist."),
  TEXT(HSA_STATUS_CU_MASK_REDUCED, "Some compute units of the mask are not enabled."),
};

EXPORT hsa_status_t hsa_status_string(hsa_status_t status, const char **text) {
  NEEDS_OPEN();
  if (!text) return BAD;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].status == status) {
      *text = texts[i].text;
      return OK;
    }
  *text = "?";
  return BAD;
}

EXPORT hsa_status_t hsa_system_get_info(hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  if (!value) return BAD;
  switch (attribute) {
    case 0: *(uint16_t *)value = 1; return OK;             /* version of the standard: major */
    case 1: *(uint16_t *)value = 1; return OK;             /* minor */
    case 2: *(uint64_t *)value = now(); return OK;         /* timestamp */
    case 3: *(uint64_t *)value = 1000000000; return OK;    /* its frequency */
    case 4: *(uint64_t *)value = UINT64_MAX - 1; return OK; /* longest wait for a signal */
    case 5: *(uint32_t *)value = 0; return OK;             /* little-endian */
    case 6: *(uint32_t *)value = HSA_MACHINE_MODEL_LARGE; return OK;
    case 7:                                                /* extensions: a bit each */
      memset(value, 0, 128);
      *(uint8_t *)value = 1 << HSA_EXTENSION_IMAGES;
      ((uint8_t *)value)[HSA_EXTENSION_AMD_LOADER / 8] |= 1 << HSA_EXTENSION_AMD_LOADER % 8;
      return OK;
    case 0x200: *(const char **)value = "rocdbg"; return OK; /* build version */
    case 0x201:                                            /* shared virtual memory */
    case 0x202:                                            /* accessible by default */
    case 0x203:                                            /* mwaitx */
    case 0x204:                                            /* dmabuf */
    case 0x206: *(bool *)value = false; return OK;         /* XNACK */
    case 0x205: *(bool *)value = true; return OK;          /* virtual memory interface */
    case 0x207: *(uint16_t *)value = 1; return OK;         /* version of AMD's extension: major */
    case 0x208: *(uint16_t *)value = 6; return OK;         /* minor */
    default: return unknown_attribute(__func__, attribute);
  }
}

EXPORT hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name) {
  NEEDS_OPEN();
  if (!name) return BAD;
  switch (extension) {
    case HSA_EXTENSION_FINALIZER: *name = "HSA_EXTENSION_FINALIZER"; return OK;
    case HSA_EXTENSION_IMAGES: *name = "HSA_EXTENSION_IMAGES"; return OK;
    case HSA_EXTENSION_AMD_LOADER: *name = "HSA_EXTENSION_AMD_LOADER"; return OK;
    default: *name = "HSA_EXTENSION_INVALID"; return BAD;
  }
}

EXPORT hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t *minor, bool *yes) {
  NEEDS_OPEN();
  if (!yes || !minor) return BAD;
  *yes = (extension == HSA_EXTENSION_AMD_LOADER || extension == HSA_EXTENSION_IMAGES) && major == 1;
  if (*yes) *minor = extension == HSA_EXTENSION_IMAGES ? 0 : 3;
  return OK;
}
EXPORT hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool *yes) {
  uint16_t most = 0;
  hsa_status_t status = hsa_system_major_extension_supported(extension, major, &most, yes);
  if (!status && minor > most) *yes = false;
  return status;
}
EXPORT hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major, uint16_t minor, bool *yes) {
  NEEDS_OPEN();
  if (!yes) return BAD;
  agent_t *found = agent_of(agent);
  *yes = found && found->gpu && extension == HSA_EXTENSION_IMAGES && major == 1 && !minor;
  return found ? OK : HSA_STATUS_ERROR_INVALID_AGENT;
}
EXPORT hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major, uint16_t *minor, bool *yes) {
  NEEDS_OPEN();
  if (!minor) return BAD;
  *minor = 0;
  return hsa_agent_extension_supported(extension, agent, major, 0, yes);
}

EXPORT hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size, void *table) {
  NEEDS_OPEN();
  say(1, "system_get_major_extension_table %#x, %zu bytes", extension, size);
  if (!table || major != 1) return BAD;
  if (extension == HSA_EXTENSION_AMD_LOADER && loader_table(size, table)) return OK;
  if (extension != HSA_EXTENSION_IMAGES) return HSA_STATUS_ERROR;
  images_table(size, table);
  return OK;
}
EXPORT hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void *table) {
  size_t pointers = minor >= 3 ? 7 : minor == 2 ? 6 : minor == 1 ? 5 : 3; /* of the loader's tables 1.0 to 1.3 */
  if (extension == HSA_EXTENSION_IMAGES) pointers = 10; /* of the table 1.0 */
  return hsa_system_get_major_extension_table(extension, major, pointers * sizeof(void *), table);
}

EXPORT hsa_status_t hsa_amd_enable_logging(uint8_t *flags, void *file) {
  NEEDS_OPEN();
  return OK; /* ROCDBG_HSA_LOG says what is said */
}
