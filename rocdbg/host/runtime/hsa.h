/* What this library declares of the HSA runtime's interface: handles, constants and structures, by the names and values
 * of the HSA Runtime Programmer's Reference Manual 1.2 and of AMD's extensions. Programs rely on every value here. */
#ifndef ROCDBG_HSA_H
#define ROCDBG_HSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDLE(name) typedef struct { uint64_t handle; } name
HANDLE(hsa_agent_t);
HANDLE(hsa_signal_t);
HANDLE(hsa_signal_group_t);
HANDLE(hsa_isa_t);
HANDLE(hsa_wavefront_t);
HANDLE(hsa_cache_t);
HANDLE(hsa_region_t);
HANDLE(hsa_amd_memory_pool_t);
HANDLE(hsa_code_object_t);
HANDLE(hsa_code_symbol_t);
HANDLE(hsa_code_object_reader_t);
HANDLE(hsa_executable_t);
HANDLE(hsa_executable_symbol_t);
HANDLE(hsa_loaded_code_object_t);

/* Enumerations are passed as 32-bit integers; attributes of later versions come in too, so none is a C enum type. */
typedef uint32_t hsa_status_t;
typedef int64_t hsa_signal_value_t;
typedef uint32_t hsa_signal_condition_t;
typedef uint32_t hsa_wait_state_t;
typedef uint32_t hsa_attribute_t;

enum {
  HSA_STATUS_SUCCESS = 0,
  HSA_STATUS_INFO_BREAK = 1,
  HSA_STATUS_ERROR_INVALID_MEMORY_POOL = 40,
  HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION = 41,
  HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION = 42,
  HSA_STATUS_ERROR_MEMORY_FAULT = 43,
  HSA_STATUS_CU_MASK_REDUCED = 44,
  HSA_STATUS_ERROR = 0x1000,
  HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
  HSA_STATUS_ERROR_INVALID_QUEUE_CREATION = 0x1002,
  HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003,
  HSA_STATUS_ERROR_INVALID_AGENT = 0x1004,
  HSA_STATUS_ERROR_INVALID_REGION = 0x1005,
  HSA_STATUS_ERROR_INVALID_SIGNAL = 0x1006,
  HSA_STATUS_ERROR_INVALID_QUEUE = 0x1007,
  HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
  HSA_STATUS_ERROR_INVALID_PACKET_FORMAT = 0x1009,
  HSA_STATUS_ERROR_RESOURCE_FREE = 0x100A,
  HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100B,
  HSA_STATUS_ERROR_REFCOUNT_OVERFLOW = 0x100C,
  HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS = 0x100D,
  HSA_STATUS_ERROR_INVALID_INDEX = 0x100E,
  HSA_STATUS_ERROR_INVALID_ISA = 0x100F,
  HSA_STATUS_ERROR_INVALID_CODE_OBJECT = 0x1010,
  HSA_STATUS_ERROR_INVALID_EXECUTABLE = 0x1011,
  HSA_STATUS_ERROR_FROZEN_EXECUTABLE = 0x1012,
  HSA_STATUS_ERROR_INVALID_SYMBOL_NAME = 0x1013,
  HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED = 0x1014,
  HSA_STATUS_ERROR_VARIABLE_UNDEFINED = 0x1015,
  HSA_STATUS_ERROR_EXCEPTION = 0x1016,
  HSA_STATUS_ERROR_INVALID_ISA_NAME = 0x1017,
  HSA_STATUS_ERROR_INVALID_CODE_SYMBOL = 0x1018,
  HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019,
  HSA_STATUS_ERROR_INVALID_FILE = 0x1020,
  HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER = 0x1021,
  HSA_STATUS_ERROR_INVALID_CACHE = 0x1022,
  HSA_STATUS_ERROR_INVALID_WAVEFRONT = 0x1023,
  HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP = 0x1024,
  HSA_STATUS_ERROR_INVALID_RUNTIME_STATE = 0x1025,
  HSA_STATUS_ERROR_FATAL = 0x1026,
};

enum { HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_NE, HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_GTE };
enum { HSA_EXTENSION_FINALIZER = 0, HSA_EXTENSION_IMAGES = 1, HSA_EXTENSION_AMD_LOADER = 0x201 };
enum { HSA_DEVICE_TYPE_CPU, HSA_DEVICE_TYPE_GPU };
enum { HSA_SYMBOL_KIND_VARIABLE = 0, HSA_SYMBOL_KIND_KERNEL = 1 };
enum { HSA_SEGMENT_GLOBAL = 0, HSA_SEGMENT_GROUP = 3 };
enum { HSA_GLOBAL_FLAG_KERNARG = 1, HSA_GLOBAL_FLAG_FINE_GRAINED = 2, HSA_GLOBAL_FLAG_COARSE_GRAINED = 4 };
enum { HSA_EXT_POINTER_TYPE_UNKNOWN, HSA_EXT_POINTER_TYPE_HSA, HSA_EXT_POINTER_TYPE_LOCKED };
enum { HSA_FLOAT_ROUNDING_NEAR = 2, HSA_PROFILE_BASE = 0, HSA_PROFILE_FULL = 1, HSA_MACHINE_MODEL_LARGE = 1 };

typedef struct { uint32_t x, y, z; } hsa_dim3_t;
typedef struct { void *base; size_t pitch, slice; } hsa_pitched_ptr_t;

typedef struct {
  uint32_t type, features;
  void *base_address;
  hsa_signal_t doorbell_signal;
  uint32_t size, reserved;
  uint64_t id;
} hsa_queue_t;

/* amd_queue_t and amd_signal_t: the device libraries read them too. */
typedef struct {
  hsa_queue_t hsa_queue;
  uint32_t reserved1[4];
  uint64_t write_dispatch_id;
  uint32_t group_aperture_hi, private_aperture_hi, max_cu_id, max_wave_id;
  uint32_t reserved2[12];
  uint64_t read_dispatch_id;
  uint32_t read_dispatch_id_offset, compute_tmpring_size, scratch_descriptor[4];
  uint64_t scratch_location, scratch_size;
  uint32_t scratch_lane_size, properties, reserved3[2];
  hsa_signal_t queue_inactive_signal;
  uint32_t reserved4[14];
} amd_queue_t;

typedef struct {
  int64_t kind; /* AMD_SIGNAL_KIND_* */
  int64_t value;
  uint64_t event_mailbox_ptr;
  uint32_t event_id, reserved1;
  uint64_t start_ts, end_ts;
  uint64_t queue_ptr; /* of a doorbell; of a signal that is not used, the next one of these */
  uint32_t reserved2[2];
} amd_signal_t;
enum { AMD_SIGNAL_KIND_INVALID = 0, AMD_SIGNAL_KIND_USER = 1, AMD_SIGNAL_KIND_DOORBELL = -1 };

_Static_assert(offsetof(amd_queue_t, write_dispatch_id) == 56 && offsetof(amd_queue_t, read_dispatch_id) == 128 &&
               offsetof(amd_queue_t, queue_inactive_signal) == 192 && sizeof(amd_queue_t) == 256, "amd_queue_t");
_Static_assert(offsetof(amd_signal_t, start_ts) == 32 && sizeof(amd_signal_t) == 64, "amd_signal_t");

typedef struct {
  uint32_t size, type;
  void *agent_base, *host_base;
  size_t bytes;
  void *user_data;
  hsa_agent_t owner;
  uint32_t global_flags;
  bool registered; /* since ROCm 6 */
} hsa_amd_pointer_info_t;

typedef struct { uint64_t start, end; } hsa_amd_profiling_time_t;
typedef struct {
  uint32_t event_type; /* 0: memory fault */
  struct {
    hsa_agent_t agent;
    uint64_t virtual_address;
    uint32_t fault_reason_mask;
  } memory_fault;
} hsa_amd_event_t;

typedef hsa_status_t (*hsa_amd_system_event_callback_t)(const hsa_amd_event_t *, void *);
typedef void (*queue_error_callback_t)(hsa_status_t, hsa_queue_t *, void *);
typedef bool (*hsa_amd_signal_handler_t)(hsa_signal_value_t, void *);

#endif
