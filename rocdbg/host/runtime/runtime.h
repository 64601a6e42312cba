/* What the parts of the library know of each other. Each file says what it is about; `protocol.h` is made from
 * rocdbg/host/protocol.py when the library is built. */
#ifndef ROCDBG_RUNTIME_H
#define ROCDBG_RUNTIME_H

#include <pthread.h>
#include <sys/uio.h>

#include "hsa.h"
#include "protocol.h"

#define EXPORT __attribute__((visibility("default")))
#define OK HSA_STATUS_SUCCESS
#define BAD HSA_STATUS_ERROR_INVALID_ARGUMENT

/* -- log.c -- */
void say(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
hsa_status_t unsupported(const char *function);
hsa_status_t unknown_attribute(const char *function, uint32_t attribute);

/* -- connection.c: the socket to rocdbg, the window of shared memory -- */
typedef struct {
  uint32_t operation;
  uint32_t payload; /* bytes that follow */
  uint64_t arguments[REQUEST_ARGUMENTS];
} request_t;
typedef struct {
  uint32_t status; /* an hsa_status_t */
  uint32_t payload;
  uint64_t values[REPLY_VALUES];
} reply_t;
_Static_assert(sizeof(request_t) == REQUEST_SIZE && sizeof(reply_t) == REPLY_SIZE, "the wire");

/* Words through which the two sides wait for each other, in the window. */
typedef struct {
  _Atomic uint32_t work;       /* counts what the GPU may have to look at: doorbells, signals changed here */
  _Atomic uint32_t gpu_waits;  /* whether it waits for that */
  uint32_t pad[14];
  _Atomic uint32_t changes;    /* counts changes of signals, by anyone */
  _Atomic uint32_t host_waits; /* threads here that wait for one */
} control_t;

extern control_t *control;
extern uint64_t window_base, window_size;
extern uint64_t own_token; /* names this process to rocdbg */

hsa_status_t open_connection(void);
/* A request and its reply. `out` gets the reply's payload with a 0 behind it, to be freed, if there is one. */
hsa_status_t ask(uint32_t operation, const uint64_t arguments[REQUEST_ARGUMENTS], const struct iovec *payload, int parts,
                 reply_t *reply, char **out);
/* The same; a file may come along, -1 if none does. `reply` is needed. */
hsa_status_t ask_for_file(uint32_t operation, const uint64_t arguments[REQUEST_ARGUMENTS], const struct iovec *payload,
                          int parts, reply_t *reply, char **out, int *file);
bool map_pages(uint64_t address, uint64_t size, int file, uint64_t offset); /* file -1: the window's own */
hsa_status_t ask_number(uint32_t operation, uint64_t first, uint64_t second, uint64_t third, uint64_t *value);
int open_events(void); /* the connection on which rocdbg asks; -1 */
bool receive_all(int socket, void *data, size_t size);
bool send_all(int socket, const void *data, size_t size);
_Noreturn void debugger_gone(void);
bool is_open(void);

#define NEEDS_OPEN() do { if (!is_open()) return HSA_STATUS_ERROR_NOT_INITIALIZED; } while (0)

/* -- agents.c, pools.c -- */
typedef struct {
  char name[32], isa[96], product[64];
  uint32_t wavefront_size, compute_units, waves_per_unit, simds_per_unit, lds_size, chip_id, cacheline, revision;
  uint64_t memory_size, has_images, reserved[2];
} agent_record_t;
_Static_assert(sizeof(agent_record_t) == AGENT_RECORD_SIZE, "an agent's record");

typedef struct agent agent_t;
typedef struct pool {
  agent_t *agent;
  uint32_t kind; /* POOL_* of the protocol */
} pool_t;
enum { POOLS_PER_AGENT = 3 };
struct agent {
  bool gpu;
  uint32_t node;
  agent_record_t record;
  pool_t pools[POOLS_PER_AGENT];
  int pool_count;
};
extern agent_t agents[1 + MAX_AGENTS]; /* the CPU first */
extern int agent_count;
agent_t *agent_of(hsa_agent_t handle);
pool_t *pool_of(uint64_t handle);
uint32_t pool_flags(const pool_t *pool);
static inline hsa_agent_t agent_handle(const agent_t *agent) { return (hsa_agent_t){(uint64_t)agent}; }
void make_agents(const agent_record_t *records, int count);

/* -- memory.c: blocks of the window and what they are -- */
typedef struct block {
  uint64_t base, size; /* in the window */
  uint64_t host;       /* where the program knows it, if elsewhere: pinned memory */
  pool_t *pool;
  void *user;
  bool shared;         /* the host's pages are those of the window */
  bool code;
  bool mapped;         /* memory that is a block of its own elsewhere, perhaps another process's */
  uint32_t locks;
} block_t;
block_t *note_block(uint64_t base, uint64_t size, uint64_t host, pool_t *pool);
bool find_block(uint64_t address, block_t *found);
hsa_status_t take_block(uint64_t base, block_t *taken); /* and forget it */
bool change_block(uint64_t address, void (*change)(block_t *, void *), void *data);
uint64_t allocate(size_t size, pool_t *pool);
uint64_t host_side(uint64_t address); /* where this process finds the bytes of an address */
void note_write(uint64_t address, uint64_t size); /* tells the GPU if it is code */
bool in_window(uint64_t address);
void forget_blocks(void);

/* -- pinning.c -- */
bool share_pages(uint64_t base);

/* -- mappings.c, sharing.c -- */
void forget_mappings(void);
hsa_status_t attach_memory(uint64_t token, uint64_t address, uint64_t size, uint64_t *base);
hsa_status_t detach_memory(uint64_t base, uint64_t size);

/* -- signals.c -- */
amd_signal_t *new_signal(int64_t value);
void free_signal(amd_signal_t *signal);
bool signals_block(hsa_signal_t signal, uint64_t *base, uint64_t *size);
static inline amd_signal_t *signal_of(hsa_signal_t handle) { return (amd_signal_t *)handle.handle; }
static inline int64_t signal_value(hsa_signal_t handle) { return __atomic_load_n(&signal_of(handle)->value, __ATOMIC_ACQUIRE); }
bool condition_holds(int64_t value, hsa_signal_condition_t condition, int64_t other);
void signals_changed(void);
/* Sleep until some signal may have changed since `seen` was read of `control->changes`, or for so long. */
void wait_for_changes(uint32_t seen, uint64_t nanoseconds);
uint64_t now(void);
void forget_signals(void);
enum { LONGEST_NAP = 10000000 }; /* ns: kernels and stores through pointers change signals without waking anyone */
enum { WATCHED = 100000 }; /* ns: who waits looks for so long before it sleeps; waking takes longer than most kernels */

/* -- images.c -- */
void forget_images(void);
void images_table(size_t size, void *table);

/* -- handlers.c, copies.c, queues.c, events.c -- */
void forget_handlers(void);
void forget_copies(void);
void forget_queues(void);
void queue_failed(uint64_t queue, hsa_status_t status);
typedef struct { uint64_t address, size, first, end; } queue_traces_t; /* records, and the packets that have none yet */
bool queue_to_trace(uint64_t queue, queue_traces_t *traces);
void note_ring(amd_signal_t *bell);
bool start_thread(void *(*body)(void *));
bool start_events(void);
void forget_events(void);
void forget_executables(void);

/* -- readers.c, executables.c -- */
typedef struct { const char *data; size_t size; int file; bool owned; char uri[PATH_LIMIT]; } reader_t;
hsa_status_t reader_from_file(int file, size_t offset, size_t size, hsa_code_object_reader_t *reader);
bool loader_table(size_t size, void *table);

#endif
