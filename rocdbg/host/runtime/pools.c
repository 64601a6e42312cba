/* Memory pools of AMD's extension and the regions of the standard, which are the same here: three of the host, and each
 * GPU's own and its LDS. */
#define _GNU_SOURCE
#include <string.h>

#include "runtime.h"

enum { GRANULE = 4096, LARGE_GRANULE = 2 << 20 };
enum { NEVER_ALLOWED, ALLOWED, DISALLOWED_BY_DEFAULT };
enum { LINK_PCIE = 2, LINK_DISTANCE = 20 };

typedef struct {
  uint32_t least_latency, most_latency, least_bandwidth, most_bandwidth;
  bool atomics32, atomics64, coherent;
  uint32_t type, distance;
} link_t;

pool_t *pool_of(uint64_t handle) {
  for (int i = 0; i < agent_count; i++)
    for (int p = 0; p < agents[i].pool_count; p++)
      if (handle == (uint64_t)&agents[i].pools[p]) return &agents[i].pools[p];
  return NULL;
}

uint32_t pool_flags(const pool_t *pool) {
  switch (pool->kind) {
    case POOL_FINE: return HSA_GLOBAL_FLAG_FINE_GRAINED;
    case POOL_KERNARG: return HSA_GLOBAL_FLAG_FINE_GRAINED | HSA_GLOBAL_FLAG_KERNARG;
    case POOL_GROUP: return 0;
    default: return HSA_GLOBAL_FLAG_COARSE_GRAINED;
  }
}

EXPORT hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t handle, hsa_status_t (*function)(hsa_amd_memory_pool_t, void *),
                                                       void *data) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!function) return BAD;
  for (int p = 0; p < agent->pool_count; p++) {
    hsa_status_t status = function((hsa_amd_memory_pool_t){(uint64_t)&agent->pools[p]}, data);
    if (status) return status;
  }
  return OK;
}

EXPORT hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  pool_t *pool = pool_of(handle.handle);
  if (!pool) return HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!value) return BAD;
  bool group = pool->kind == POOL_GROUP;
  uint64_t size = group ? pool->agent->record.lds_size : pool->agent->record.memory_size;
  switch (attribute) {
    case 0: *(uint32_t *)value = group ? HSA_SEGMENT_GROUP : HSA_SEGMENT_GLOBAL; return OK;
    case 1: *(uint32_t *)value = pool_flags(pool); return OK;
    case 2: *(size_t *)value = size; return OK;
    case 5: *(bool *)value = !group; return OK;            /* can be allocated */
    case 6: *(size_t *)value = group ? 0 : GRANULE; return OK;
    case 7: *(size_t *)value = group ? 0 : GRANULE; return OK; /* alignment */
    case 15: *(bool *)value = !pool->agent->gpu; return OK; /* all agents may use it */
    case 16: *(size_t *)value = group ? 0 : size; return OK; /* largest allocation */
    case 17: *(uint32_t *)value = pool->agent->gpu; return OK; /* where it is: 0 CPU, 1 GPU */
    case 18: *(size_t *)value = group ? 0 : LARGE_GRANULE; return OK;
    default: return unknown_attribute(__func__, attribute);
  }
}

/* As on a card behind PCIe without a large BAR: the host is not to reach the card's memory by itself. */
EXPORT hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t handle, hsa_amd_memory_pool_t pool_handle,
                                                       hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  pool_t *pool = pool_of(pool_handle.handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!pool) return HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!value) return BAD;
  bool own = pool->agent == agent;
  switch (attribute) {
    case 0:
      *(uint32_t *)value = own ? ALLOWED : agent->gpu && pool->kind != POOL_GROUP ? DISALLOWED_BY_DEFAULT : NEVER_ALLOWED;
      return OK;
    case 1: *(uint32_t *)value = !own; return OK;          /* links between them */
    case 2:
      if (!own) *(link_t *)value = (link_t){0, 0, 0, 0, true, true, true, LINK_PCIE, LINK_DISTANCE};
      return OK;
    default: return unknown_attribute(__func__, attribute);
  }
}

/* -- regions: a GPU also has those of the host that it can use -- */
EXPORT hsa_status_t hsa_agent_iterate_regions(hsa_agent_t handle, hsa_status_t (*function)(hsa_region_t, void *), void *data) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!function) return BAD;
  for (int i = 0; i < agent_count; i++) {
    if (&agents[i] != agent && i) continue;
    for (int p = 0; p < agents[i].pool_count; p++) {
      hsa_status_t status = function((hsa_region_t){(uint64_t)&agents[i].pools[p]}, data);
      if (status) return status;
    }
  }
  return OK;
}

EXPORT hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  pool_t *pool = pool_of(region.handle);
  if (!pool) return HSA_STATUS_ERROR_INVALID_REGION;
  if (!value) return BAD;
  bool group = pool->kind == POOL_GROUP;
  switch (attribute) {
    case 4: *(size_t *)value = group ? 0 : pool->agent->record.memory_size; return OK;
    case 8: *(uint32_t *)value = 0; return OK;             /* private segment of a workgroup */
    case 0xA000: *(bool *)value = !pool->agent->gpu; return OK; /* the host may use it */
    case 0xA001: *(void **)value = NULL; return OK;        /* base */
    case 0xA002: *(uint32_t *)value = pool->agent->gpu ? 1024 : 64; return OK; /* bus width */
    case 0xA003: *(uint32_t *)value = 1000; return OK;     /* MHz */
    case 0: case 1: case 2: case 5: case 6: case 7:
      return hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){region.handle}, attribute, value);
    default: return unknown_attribute(__func__, attribute);
  }
}

extern hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t, size_t, uint32_t, void **);
extern hsa_status_t hsa_amd_memory_pool_free(void *);

EXPORT hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void **out) {
  hsa_status_t status = hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){region.handle}, size, 0, out);
  return status == HSA_STATUS_ERROR_INVALID_MEMORY_POOL ? HSA_STATUS_ERROR_INVALID_REGION : status;
}
EXPORT hsa_status_t hsa_memory_free(void *pointer) { return hsa_amd_memory_pool_free(pointer); }

/* Hints: memory that is not of a pool is reached by kernels only once it is locked. */
EXPORT hsa_status_t hsa_memory_register(void *pointer, size_t size) {
  NEEDS_OPEN();
  return size && !pointer ? BAD : OK;
}
EXPORT hsa_status_t hsa_memory_deregister(void *pointer, size_t size) {
  NEEDS_OPEN();
  return OK;
}
EXPORT hsa_status_t hsa_memory_assign_agent(void *pointer, hsa_agent_t agent, uint32_t access) {
  NEEDS_OPEN();
  if (!pointer || access < 1 || access > 3) return BAD;
  return agent_of(agent) ? OK : HSA_STATUS_ERROR_INVALID_AGENT;
}
