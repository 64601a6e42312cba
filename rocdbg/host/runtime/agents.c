/* Agents: the CPU of this process and the GPUs that rocdbg simulates, their instruction sets, wavefronts and caches. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime.h"

agent_t agents[1 + MAX_AGENTS];
int agent_count;

typedef hsa_status_t (*each_agent_t)(hsa_agent_t, void *);

void make_agents(const agent_record_t *records, int count) {
  memset(agents, 0, sizeof agents);
  agent_count = 1 + count;
  for (int i = 0; i < agent_count; i++) {
    agent_t *agent = &agents[i];
    *agent = (agent_t){.gpu = i > 0, .node = i, .pool_count = i ? 2 : 3};
    if (i) agent->record = records[i - 1];
    for (int p = 0; p < agent->pool_count; p++) agent->pools[p] = (pool_t){agent, (i ? POOL_DEVICE : POOL_FINE) + p};
  }
  agent_record_t *cpu = &agents[0].record;
  snprintf(cpu->name, sizeof cpu->name, "CPU");
  snprintf(cpu->product, sizeof cpu->product, "CPU");
  long units = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  cpu->compute_units = units > 0 ? units : 1, cpu->cacheline = 64;
  cpu->memory_size = pages > 0 ? (uint64_t)pages * page : records[0].memory_size;
}

agent_t *agent_of(hsa_agent_t handle) {
  for (int i = 0; i < agent_count; i++) if (handle.handle == (uint64_t)&agents[i]) return &agents[i];
  return NULL;
}
/* A GPU has one instruction set, which has one wavefront and whose handle is the agent's. */
static agent_t *gpu_of(uint64_t handle) {
  agent_t *agent = agent_of((hsa_agent_t){handle});
  return agent && agent->gpu ? agent : NULL;
}

EXPORT hsa_status_t hsa_iterate_agents(each_agent_t function, void *data) {
  NEEDS_OPEN();
  if (!function) return BAD;
  for (int i = 0; i < agent_count; i++) {
    hsa_status_t status = function(agent_handle(&agents[i]), data);
    if (status) return status;
  }
  return OK;
}

static hsa_status_t u16(void *value, uint16_t number) { return memcpy(value, &number, sizeof number), OK; }
static hsa_status_t u32(void *value, uint32_t number) { return memcpy(value, &number, sizeof number), OK; }
static hsa_status_t u64(void *value, uint64_t number) { return memcpy(value, &number, sizeof number), OK; }
static hsa_status_t yes_or_no(void *value, bool yes) { return *(bool *)value = yes, OK; }
static hsa_status_t text64(void *value, const char *text) { return snprintf(memset(value, 0, 64), 64, "%s", text), OK; }
static hsa_status_t dwords(void *value, uint32_t a, uint32_t b, uint32_t c, int count) {
  uint32_t numbers[3] = {a, b, c};
  return memcpy(value, numbers, count * sizeof *numbers), OK;
}

static hsa_status_t sizes(void *value, uint32_t most, int count) { return dwords(value, most, most, most, count); }

enum { GROUP_MOST = 1024, DIMENSION_MOST = 1024, IMAGE_MOST = 16384, IMAGE_MOST_LAYERS = 8192 };
static hsa_status_t group_dimensions(void *value) {
  uint16_t sizes[3] = {DIMENSION_MOST, DIMENSION_MOST, DIMENSION_MOST};
  return memcpy(value, sizes, sizeof sizes), OK;
}

/* Attributes of the standard (5.4), of images (0x3000; 32-bit numbers, whatever the manual says), of AMD (0xA000). */
EXPORT hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!value) return BAD;
  bool gpu = agent->gpu;
  const agent_record_t *r = &agent->record;
  say(2, "agent_get_info node %u, %#x", agent->node, attribute);
  switch (attribute) {
    case 0: return text64(value, r->name);
    case 1: return text64(value, gpu ? "AMD" : "CPU");
    case 2: return u32(value, gpu);                        /* takes kernel dispatches */
    case 3: return u32(value, HSA_MACHINE_MODEL_LARGE);
    case 4: return u32(value, gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL);
    case 5: case 23: return u32(value, HSA_FLOAT_ROUNDING_NEAR);
    case 24: return yes_or_no(value, gpu);                 /* fast f16 */
    case 6: return u32(value, r->wavefront_size);
    case 7: return gpu ? group_dimensions(value) : (memset(value, 0, 6), OK);
    case 8: return u32(value, gpu ? GROUP_MOST : 0);
    case 9: return gpu ? dwords(value, INT32_MAX, INT32_MAX, INT32_MAX, 3) : dwords(value, 0, 0, 0, 3);
    case 10: return u32(value, gpu ? UINT32_MAX : 0);
    case 11: return u32(value, gpu ? 32 : 0);              /* fbarriers */
    case 12: return u32(value, gpu ? 128 : 0);             /* queues */
    case 13: return u32(value, gpu ? 64 : 0);
    case 14: return u32(value, gpu ? 131072 : 0);
    case 15: return u32(value, 0);                         /* queues of several producers */
    case 16: return u32(value, agent->node);
    case 17: return u32(value, gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
    case 18: return dwords(memset(value, 0, 16), 16384, gpu ? 4194304 : 0, 0, 2);
    case 19: return u64(value, gpu ? handle.handle : 0);
    case 20:                                               /* images: runtimes need the bit for pitched memory */
      memset(value, 0, 128);
      if (gpu) *(uint8_t *)value = 1 << HSA_EXTENSION_IMAGES;
      return OK;
    case 21: case 22: return u16(value, 1);                /* version of the standard */
    case 0x3000: case 0x3001: return u32(value, r->has_images ? IMAGE_MOST : 0);
    case 0x3002: return u32(value, r->has_images ? UINT32_MAX : 0); /* texels of a buffer */
    case 0x3003: case 0x3004: case 0x3005: case 0x3006: return sizes(value, r->has_images ? IMAGE_MOST : 0, 2);
    case 0x3007:
      return r->has_images ? dwords(value, IMAGE_MOST, IMAGE_MOST, IMAGE_MOST_LAYERS, 3) : sizes(value, 0, 3);
    case 0x3008: return u32(value, r->has_images ? IMAGE_MOST_LAYERS : 0);
    case 0x3009: return u32(value, r->has_images ? 128 : 0); /* images that are read */
    case 0x300A: return u32(value, r->has_images ? 64 : 0); /* read and written */
    case 0x300B: return u32(value, r->has_images ? 16 : 0); /* samplers */
    case 0x300C: return u32(value, gpu ? 256 : 0);         /* alignment of a row's pitch */
    case 0xA000: return u32(value, r->chip_id);
    case 0xA001: return u32(value, r->cacheline);
    case 0xA002: case 0xA014: return u32(value, r->compute_units);
    case 0xA003: case 0xA008: return u32(value, 1000);     /* MHz */
    case 0xA004: return u32(value, agent->node);
    case 0xA005: return u32(value, gpu ? 4 : 0);           /* watchpoints */
    case 0xA006: return u32(value, agent->node << 8);      /* bus, device, function */
    case 0xA007: return u32(value, gpu ? 1024 : 64);       /* width of memory */
    case 0xA009: return text64(value, r->product);
    case 0xA00A: return u32(value, r->waves_per_unit);
    case 0xA00B: return u32(value, r->simds_per_unit);
    case 0xA00C: case 0xA00D: return u32(value, gpu);      /* shader engines, arrays of each */
    case 0xA00E: return memset(value, 0, 16), OK;          /* no registers to flush */
    case 0xA00F: return u32(value, 0);                     /* PCI domain */
    case 0xA010: return yes_or_no(value, gpu);             /* cooperative queues */
    case 0xA011:                                           /* unique name: at most 21 bytes */
      if (gpu) snprintf(value, 21, "GPU-%016x", agent->node);
      else strcpy(value, "CPU-XX");
      return OK;
    case 0xA012: return u32(value, r->revision);
    case 0xA013: return yes_or_no(value, false);           /* direct access of the host to migrated memory */
    case 0xA015: return u64(value, r->memory_size);        /* free: pages take memory of the host when used */
    case 0xA016: return u64(value, 1000000000);            /* Hz */
    case 0xA107: return u32(value, 0);                     /* family */
    case 0xA108: case 0xA109: return u32(value, 1);        /* firmware */
    case 0xA10A: return u32(value, gpu);                   /* copy engines */
    case 0xA10B: return u32(value, 0);
    case 0xA110: return u32(value, 0);                     /* IOMMU */
    case 0xA111: return u32(value, 1);                     /* XCCs */
    case 0xA112: return u32(value, agent->node);           /* the driver's number */
    case 0xA113: return u64(value, agent_handle(&agents[0]).handle); /* nearest CPU */
    case 0xA114: case 0xA115: return memset(value, 0, 8), OK; /* memory properties, AQL extensions: none */
    default: return unknown_attribute(__func__, attribute);
  }
}

EXPORT hsa_status_t hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  if (attribute < 0x3000 || attribute > 0x300C) return BAD;
  return hsa_agent_get_info(agent, attribute, value);
}

EXPORT hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, uint32_t profile, uint16_t *mask) {
  NEEDS_OPEN();
  if (!mask || profile > 1) return BAD;
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  *mask = 0;
  return OK;
}

EXPORT hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t limit) {
  NEEDS_OPEN();
  return agent_of(agent) ? OK : HSA_STATUS_ERROR_INVALID_AGENT; /* scratch is made for each dispatch */
}

/* -- coherency: memory is always coherent -- */
EXPORT hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, uint32_t *type) {
  NEEDS_OPEN();
  if (!gpu_of(agent.handle)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!type) return BAD;
  *type = 0;
  return OK;
}
EXPORT hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, uint32_t type) {
  NEEDS_OPEN();
  if (!gpu_of(agent.handle)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return type > 1 ? BAD : OK;
}

/* -- instruction sets -- */
EXPORT hsa_status_t hsa_agent_iterate_isas(hsa_agent_t handle, hsa_status_t (*function)(hsa_isa_t, void *), void *data) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!function) return BAD;
  return agent->gpu ? function((hsa_isa_t){handle.handle}, data) : OK;
}

EXPORT hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *out) {
  NEEDS_OPEN();
  if (!name || !out) return BAD;
  for (int i = 1; i < agent_count; i++)
    if (!strcmp(agents[i].record.isa, name)) {
      out->handle = (uint64_t)&agents[i];
      return OK;
    }
  return HSA_STATUS_ERROR_INVALID_ISA_NAME;
}

EXPORT hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  agent_t *agent = gpu_of(isa.handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!value) return BAD;
  switch (attribute) {
    case 0: return u32(value, strlen(agent->record.isa) + 1); /* with the 0 */
    case 1: return strcpy(value, agent->record.isa), OK;
    case 2: return u32(value, 1);                          /* call conventions */
    case 3: return u32(value, agent->record.wavefront_size);
    case 4: return u32(value, agent->record.waves_per_unit);
    case 5: return ((bool *)value)[0] = false, ((bool *)value)[1] = true, OK; /* machine models: large */
    case 6: return ((bool *)value)[0] = true, ((bool *)value)[1] = false, OK; /* profiles: base */
    case 7: case 8: return memset(value, 0, 3), ((bool *)value)[HSA_FLOAT_ROUNDING_NEAR] = true, OK;
    case 9: return yes_or_no(value, true);                 /* fast f16 */
    case 12: return group_dimensions(value);
    case 13: return u32(value, GROUP_MOST);
    case 14: return dwords(value, INT32_MAX, INT32_MAX, INT32_MAX, 3);
    case 16: return u64(value, UINT32_MAX);                /* work-items of a grid */
    case 17: return u32(value, 32);                        /* fbarriers */
    default: return unknown_attribute(__func__, attribute);
  }
}
EXPORT hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_attribute_t attribute, uint32_t index, void *value) {
  return index ? HSA_STATUS_ERROR_INVALID_INDEX : hsa_isa_get_info_alt(isa, attribute, value);
}

EXPORT hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, uint32_t profile, uint16_t *mask) {
  NEEDS_OPEN();
  if (!gpu_of(isa.handle)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!mask || profile > 1) return BAD;
  *mask = 0;
  return OK;
}
EXPORT hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, uint32_t type, uint32_t flush, uint32_t *method) {
  NEEDS_OPEN();
  if (!gpu_of(isa.handle)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!method) return BAD;
  *method = 1; /* a single rounding */
  return OK;
}
EXPORT hsa_status_t hsa_isa_compatible(hsa_isa_t code, hsa_isa_t agent, bool *result) {
  NEEDS_OPEN();
  if (!gpu_of(code.handle) || !gpu_of(agent.handle)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!result) return BAD;
  *result = !strcmp(gpu_of(code.handle)->record.isa, gpu_of(agent.handle)->record.isa);
  return OK;
}

EXPORT hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa, hsa_status_t (*function)(hsa_wavefront_t, void *), void *data) {
  NEEDS_OPEN();
  if (!gpu_of(isa.handle)) return HSA_STATUS_ERROR_INVALID_ISA;
  return function ? function((hsa_wavefront_t){isa.handle}, data) : BAD;
}
EXPORT hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  agent_t *agent = gpu_of(wavefront.handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
  if (!value || attribute) return BAD;
  return u32(value, agent->record.wavefront_size);
}

/* -- caches: none of their own is simulated -- */
EXPORT hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*function)(hsa_cache_t, void *), void *data) {
  NEEDS_OPEN();
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return function ? OK : BAD;
}
EXPORT hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_attribute_t attribute, void *value) {
  NEEDS_OPEN();
  return HSA_STATUS_ERROR_INVALID_CACHE;
}
