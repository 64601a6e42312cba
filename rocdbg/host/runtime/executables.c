/* Code: executables, their symbols, and AMD's loader extension. rocdbg loads code objects and answers each with a
 * table of all its symbols, so that looking for one asks nobody. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* As rocdbg writes them, followed by the name. */
typedef struct {
  uint32_t kind, name_size;
  uint64_t address, size;
  uint32_t kernarg_size, kernarg_alignment, group_size, private_size, flags, linkage;
} symbol_record_t;
_Static_assert(sizeof(symbol_record_t) == SYMBOL_RECORD_SIZE, "a symbol's record");

typedef struct symbol { symbol_record_t r; const char *name; agent_t *agent; struct symbol *next_of_hash; } symbol_t;
typedef struct object {
  struct executable *executable;
  agent_t *agent;
  uint64_t number, base, size;
  int64_t delta;
  const void *storage;
  size_t storage_size;
  char *uri, *table;
  symbol_t *symbols;
  uint32_t count;
  symbol_t **buckets; /* by name; as many as symbols, or 1 */
  struct object *next;
} object_t;
typedef struct definition { agent_t *agent; char *name; uint64_t address; struct definition *next; } definition_t;
typedef struct executable {
  bool frozen;
  object_t *objects;
  definition_t *definitions;
  struct executable *next;
} executable_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static executable_t *executables;

void forget_executables(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  executables = NULL;
}

static executable_t *executable_of(hsa_executable_t handle) {
  pthread_mutex_lock(&lock);
  executable_t *e = executables;
  while (e && (uint64_t)e != handle.handle) e = e->next;
  pthread_mutex_unlock(&lock);
  return e;
}

/* -- executables -- */
EXPORT hsa_status_t hsa_executable_create_alt(uint32_t profile, uint32_t rounding, const char *options, hsa_executable_t *out) {
  NEEDS_OPEN();
  if (!out || profile > 1 || rounding > 2) return BAD;
  executable_t *e = calloc(1, sizeof *e);
  if (!e) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  pthread_mutex_lock(&lock);
  e->next = executables, executables = e;
  pthread_mutex_unlock(&lock);
  out->handle = (uint64_t)e;
  return OK;
}
EXPORT hsa_status_t hsa_executable_create(uint32_t profile, uint32_t state, const char *options, hsa_executable_t *out) {
  hsa_status_t status = hsa_executable_create_alt(profile, HSA_FLOAT_ROUNDING_NEAR, options, out);
  if (!status) ((executable_t *)out->handle)->frozen = state == 1;
  return status;
}

static uint32_t hash(const char *name) {
  uint32_t h = 2166136261u;
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
  return h;
}

/* The reply to LOAD: `count` records, each with its name and a 0 behind it. */
static bool read_table(object_t *object, char *table, size_t size, uint64_t count) {
  object->table = table;
  object->symbols = calloc(count ? count : 1, sizeof *object->symbols);
  object->buckets = calloc(count ? count : 1, sizeof *object->buckets);
  if (!object->symbols || !object->buckets) return false;
  for (size_t at = 0; object->count < count; object->count++) {
    symbol_t *symbol = &object->symbols[object->count];
    if (size - at < sizeof symbol->r) return false;
    memcpy(&symbol->r, table + at, sizeof symbol->r);
    at += sizeof symbol->r;
    if (size - at <= symbol->r.name_size || table[at + symbol->r.name_size]) return false;
    symbol->name = table + at, symbol->agent = object->agent;
    at += symbol->r.name_size + 1;
    symbol_t **bucket = &object->buckets[hash(symbol->name) % count];
    symbol->next_of_hash = *bucket, *bucket = symbol;
  }
  return true;
}

static void free_object(object_t *object) {
  if (!object) return;
  free(object->uri), free(object->table), free(object->symbols), free(object->buckets), free(object);
}

typedef struct { uint32_t definitions, uri_size; uint64_t code_size; } load_head_t;
enum { MOST_DEFINITIONS = 4096 };

static hsa_status_t load_object(executable_t *e, agent_t *agent, reader_t *reader, object_t **loaded) {
  if (e->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  object_t *object = calloc(1, sizeof *object);
  struct iovec *parts = calloc(3 + 2 * MOST_DEFINITIONS, sizeof *parts);
  uint64_t (*heads)[2] = calloc(MOST_DEFINITIONS, sizeof *heads);
  hsa_status_t status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  load_head_t head = {0, strlen(reader->uri), reader->size};
  char *table = NULL;
  int count = 1;
  if (!object || !parts || !heads) goto failed;
  for (definition_t *d = e->definitions; d && head.definitions < MOST_DEFINITIONS; d = d->next) {
    if (d->agent && d->agent != agent) continue;
    uint64_t *pair = heads[head.definitions++];
    pair[0] = d->address, pair[1] = strlen(d->name);
    parts[count++] = (struct iovec){pair, 16};
    parts[count++] = (struct iovec){d->name, pair[1]};
  }
  parts[0] = (struct iovec){&head, sizeof head};
  parts[count++] = (struct iovec){reader->uri, head.uri_size};
  parts[count++] = (struct iovec){(char *)reader->data, reader->size};
  uint64_t arguments[REQUEST_ARGUMENTS] = {agent->node};
  reply_t reply;
  status = ask(REQUEST_LOAD, arguments, parts, count, &reply, &table);
  say(1, "load code object %s: %#x", reader->uri, status);
  if (status) goto failed;
  *object = (object_t){.executable = e, .agent = agent, .number = reply.values[0], .base = reply.values[1], .size = reply.values[2],
                       .delta = reply.values[3], .storage = reader->data, .storage_size = reader->size, .uri = strdup(reader->uri)};
  if (!table) table = strdup("");
  if (!object->uri || !read_table(object, table, reply.payload, reply.values[4])) {
    status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    goto failed;
  }
  block_t *block = note_block(object->base, object->size, 0, &agent->pools[0]);
  if (block) block->code = true;
  pthread_mutex_lock(&lock);
  object_t **at = &e->objects;
  while (*at) at = &(*at)->next;
  *at = object;
  pthread_mutex_unlock(&lock);
  *loaded = object;
  free(parts), free(heads);
  return OK;
failed:
  free(parts), free(heads), free_object(object);
  return status;
}

EXPORT hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent_handle, hsa_code_object_reader_t reader,
                                                          const char *options, hsa_loaded_code_object_t *out) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  agent_t *agent = agent_of(agent_handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!agent || !agent->gpu) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!reader.handle) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  object_t *object;
  hsa_status_t status = load_object(e, agent, (reader_t *)reader.handle, &object);
  if (!status && out) out->handle = (uint64_t)object;
  return status;
}
EXPORT hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t handle, hsa_code_object_reader_t reader, const char *options,
                                                            hsa_loaded_code_object_t *out) {
  return unsupported(__func__); /* no compiler makes such code objects */
}

EXPORT hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (e->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  e->frozen = true;
  return OK;
}
EXPORT hsa_status_t hsa_executable_validate(hsa_executable_t handle, uint32_t *result) {
  NEEDS_OPEN();
  if (!executable_of(handle)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!result) return BAD;
  *result = 0;
  return OK;
}
EXPORT hsa_status_t hsa_executable_validate_alt(hsa_executable_t handle, const char *options, uint32_t *result) {
  return hsa_executable_validate(handle, result);
}
EXPORT hsa_status_t hsa_executable_get_info(hsa_executable_t handle, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!value) return BAD;
  switch (attribute) {
    case 1: *(uint32_t *)value = HSA_PROFILE_BASE; return OK;
    case 2: *(uint32_t *)value = e->frozen; return OK;
    case 3: *(uint32_t *)value = HSA_FLOAT_ROUNDING_NEAR; return OK;
    default: return unknown_attribute(__func__, attribute);
  }
}

EXPORT hsa_status_t hsa_executable_destroy(hsa_executable_t handle) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  pthread_mutex_lock(&lock);
  executable_t **at = &executables;
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  pthread_mutex_unlock(&lock);
  hsa_status_t status = OK;
  for (object_t *o = e->objects, *next; o; o = next) {
    block_t block;
    next = o->next;
    take_block(o->base, &block);
    hsa_status_t one = ask_number(REQUEST_UNLOAD, o->number, 0, 0, NULL);
    if (one) status = one;
    free_object(o);
  }
  for (definition_t *d = e->definitions, *next; d; d = next) next = d->next, free(d->name), free(d);
  free(e);
  return status;
}

/* -- variables that the program gives to code -- */
static symbol_t *find_symbol(executable_t *e, agent_t *agent, const char *name) {
  uint32_t h = hash(name);
  for (object_t *o = e->objects; o; o = o->next) {
    if ((agent && o->agent != agent) || !o->count) continue;
    for (symbol_t *s = o->buckets[h % o->count]; s; s = s->next_of_hash) if (!strcmp(s->name, name)) return s;
  }
  return NULL;
}

static hsa_status_t define(hsa_executable_t handle, agent_t *agent, const char *name, void *address) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!name) return BAD;
  if (e->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  for (definition_t *d = e->definitions; d; d = d->next)
    if (d->agent == agent && !strcmp(d->name, name)) return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
  if (find_symbol(e, agent, name)) return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
  definition_t *d = malloc(sizeof *d);
  char *copy = strdup(name);
  if (!d || !copy) return free(d), free(copy), HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *d = (definition_t){agent, copy, (uint64_t)address, e->definitions};
  e->definitions = d;
  return OK;
}
EXPORT hsa_status_t hsa_executable_global_variable_define(hsa_executable_t e, const char *name, void *address) {
  return define(e, NULL, name, address);
}
EXPORT hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t e, hsa_agent_t agent, const char *name, void *address) {
  NEEDS_OPEN();
  return agent_of(agent) ? define(e, agent_of(agent), name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}
EXPORT hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t e, hsa_agent_t agent, const char *name, void *address) {
  return hsa_executable_agent_global_variable_define(e, agent, name, address);
}

/* -- symbols -- */
EXPORT hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *name, const hsa_agent_t *agent,
                                                      hsa_executable_symbol_t *out) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!name || !out) return BAD;
  if (agent && !agent_of(*agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  symbol_t *symbol = find_symbol(e, agent ? agent_of(*agent) : NULL, name);
  say(1, "symbol %s: %s", name, symbol ? "found" : "none");
  if (!symbol) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  out->handle = (uint64_t)symbol;
  return OK;
}
EXPORT hsa_status_t hsa_executable_get_symbol(hsa_executable_t e, const char *module, const char *name, hsa_agent_t agent,
                                              int32_t convention, hsa_executable_symbol_t *out) {
  if (module && *module) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME; /* symbols of modules are of the time of HSAIL */
  return hsa_executable_get_symbol_by_name(e, name, &agent, out);
}

typedef hsa_status_t (*each_symbol_t)(hsa_executable_t, hsa_executable_symbol_t, void *);
typedef hsa_status_t (*each_agent_symbol_t)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void *);

EXPORT hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t handle, each_symbol_t function, void *data) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!function) return BAD;
  for (object_t *o = e->objects; o; o = o->next)
    for (uint32_t i = 0; i < o->count; i++) {
      hsa_status_t status = function(handle, (hsa_executable_symbol_t){(uint64_t)&o->symbols[i]}, data);
      if (status) return status;
    }
  return OK;
}
EXPORT hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t handle, hsa_agent_t agent, each_agent_symbol_t function, void *data) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!function) return BAD;
  for (object_t *o = e->objects; o; o = o->next)
    for (uint32_t i = 0; o->agent == agent_of(agent) && i < o->count; i++) {
      hsa_status_t status = function(handle, agent, (hsa_executable_symbol_t){(uint64_t)&o->symbols[i]}, data);
      if (status) return status;
    }
  return OK;
}
EXPORT hsa_status_t hsa_executable_iterate_program_symbols(hsa_executable_t handle, each_symbol_t function, void *data) {
  NEEDS_OPEN();
  if (!executable_of(handle)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  return function ? OK : BAD; /* every symbol is an agent's */
}

static hsa_status_t u32(void *value, uint32_t number) { return memcpy(value, &number, sizeof number), OK; }
static hsa_status_t u64(void *value, uint64_t number) { return memcpy(value, &number, sizeof number), OK; }

EXPORT hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  const symbol_t *s = (symbol_t *)handle.handle;
  if (!s) return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  if (!value) return BAD;
  const symbol_record_t *r = &s->r;
  bool kernel = r->kind == HSA_SYMBOL_KIND_KERNEL;
  switch (attribute) {
    case 0: return u32(value, r->kind);
    case 1: return u32(value, strlen(s->name));
    case 2: return memcpy(value, s->name, strlen(s->name)), OK; /* no 0 behind it */
    case 3: return u32(value, 0);                          /* of a module: none */
    case 4: return OK;
    case 5: return u32(value, r->linkage);
    case 17: return *(bool *)value = true, OK;             /* a definition */
    case 18: return kernel ? u32(value, 0) : BAD;          /* call convention */
    case 20: return u64(value, agent_handle(s->agent).handle);
    case 6: return kernel ? BAD : u32(value, 0);           /* allocated for an agent */
    case 7: return kernel ? BAD : u32(value, r->flags & SYMBOL_CONSTANT ? 1 : 0); /* segment: 1 is read-only */
    case 8: return kernel ? BAD : u32(value, 0);           /* alignment: ELF does not keep it */
    case 9: return kernel ? BAD : u32(value, r->size);
    case 10: return kernel ? BAD : (*(bool *)value = r->flags & SYMBOL_CONSTANT, OK);
    case 21: return kernel ? BAD : u64(value, r->address);
    case 22: return kernel ? u64(value, r->address) : BAD;
    case 11: return kernel ? u32(value, r->kernarg_size) : BAD;
    case 12: return kernel ? u32(value, r->kernarg_alignment) : BAD;
    case 13: return kernel ? u32(value, r->group_size) : BAD;
    case 14: return kernel ? u32(value, r->private_size) : BAD;
    case 15: return kernel ? (*(bool *)value = r->flags & SYMBOL_DYNAMIC_STACK, OK) : BAD;
    default: return unknown_attribute(__func__, attribute);
  }
}

EXPORT hsa_status_t hsa_executable_load_code_object(hsa_executable_t e, hsa_agent_t agent, hsa_code_object_t code, const char *options) {
  NEEDS_OPEN();
  if (!code.handle) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  return hsa_executable_load_agent_code_object(e, agent, (hsa_code_object_reader_t){code.handle}, options, NULL);
}

/* -- AMD's loader extension -- */
static object_t *object_at(uint64_t address) {
  for (executable_t *e = executables; e; e = e->next)
    for (object_t *o = e->objects; o; o = o->next) if (address - o->base < o->size) return o;
  return NULL;
}

static hsa_status_t query_host_address(const void *device, const void **host) {
  NEEDS_OPEN();
  if (!device || !host) return BAD;
  pthread_mutex_lock(&lock);
  bool found = object_at((uint64_t)device);
  pthread_mutex_unlock(&lock);
  if (!found) return BAD;
  *host = device; /* the same bytes */
  return OK;
}

typedef struct {
  hsa_agent_t agent;
  hsa_executable_t executable;
  uint32_t storage_type;
  const void *storage_base;
  size_t storage_size, storage_offset;
  const void *segment_base;
  size_t segment_size;
} segment_t;
enum { STORAGE_FILE = 1, STORAGE_MEMORY = 2 };

static hsa_status_t query_segments(segment_t *segments, size_t *count) {
  NEEDS_OPEN();
  if (!count || (*count == 0) != (segments == NULL)) return BAD;
  size_t have = 0, room = *count;
  pthread_mutex_lock(&lock);
  for (executable_t *e = executables; e; e = e->next)
    for (object_t *o = e->objects; o; o = o->next, have++)
      if (have < room)
        segments[have] = (segment_t){agent_handle(o->agent), {(uint64_t)e}, STORAGE_MEMORY, o->storage, o->storage_size, 0,
                                     (void *)o->base, o->size};
  pthread_mutex_unlock(&lock);
  *count = have;
  return room && have != room ? HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS : OK;
}

static hsa_status_t query_executable(const void *device, hsa_executable_t *out) {
  NEEDS_OPEN();
  if (!device || !out) return BAD;
  pthread_mutex_lock(&lock);
  object_t *object = object_at((uint64_t)device);
  if (object) out->handle = (uint64_t)object->executable;
  pthread_mutex_unlock(&lock);
  return object ? OK : BAD;
}

static hsa_status_t iterate_objects(hsa_executable_t handle, hsa_status_t (*function)(hsa_executable_t, hsa_loaded_code_object_t, void *),
                                    void *data) {
  NEEDS_OPEN();
  executable_t *e = executable_of(handle);
  if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!function) return BAD;
  for (object_t *o = e->objects; o; o = o->next) {
    hsa_status_t status = function(handle, (hsa_loaded_code_object_t){(uint64_t)o}, data);
    if (status) return status;
  }
  return OK;
}

static hsa_status_t object_info(hsa_loaded_code_object_t handle, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  object_t *o = (object_t *)handle.handle;
  if (!o || !value) return BAD;
  switch (attribute) {
    case 1: return u64(value, (uint64_t)o->executable);
    case 2: return u32(value, 2);                          /* kind: an agent's */
    case 3: return u64(value, agent_handle(o->agent).handle);
    case 4: return u32(value, STORAGE_MEMORY);
    case 5: return u64(value, (uint64_t)o->storage);
    case 6: return u64(value, o->storage_size);
    case 7: return u32(value, -1);                         /* no file */
    case 8: return u64(value, o->delta);
    case 9: return u64(value, o->base);
    case 10: return u64(value, o->size);
    case 11: return u32(value, strlen(o->uri));
    case 12: return memcpy(value, o->uri, strlen(o->uri)), OK;
    default: return unknown_attribute("hsa_ven_amd_loader_loaded_code_object_get_info", attribute);
  }
}

static hsa_status_t iterate_executables(hsa_status_t (*function)(hsa_executable_t, void *), void *data) {
  NEEDS_OPEN();
  if (!function) return BAD;
  for (executable_t *e = executables; e; e = e->next) {
    hsa_status_t status = function((hsa_executable_t){(uint64_t)e}, data);
    if (status) return status;
  }
  return OK;
}

bool loader_table(size_t size, void *table) {
  void *functions[] = {query_host_address, query_segments, query_executable, iterate_objects, object_info, reader_from_file, iterate_executables};
  if (size > sizeof functions) memset(table, 0, size);
  memcpy(table, functions, size < sizeof functions ? size : sizeof functions);
  return true;
}
