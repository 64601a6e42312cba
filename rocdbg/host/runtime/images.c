/* Images and samplers (hsa_ext_image.h). rocdbg knows formats and descriptors and makes the objects that kernels get; here
 * is where programs copy, import, export and clear, which the layout that rocdbg tells is enough for. Every image is
 * linear, whatever layout a program leaves to the GPU. */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "images.h"
#include "runtime.h"

enum { UNORM_INT8 = 2, RGBA_ORDER = 8, SRGBA_ORDER = 14, DEPTH_ORDER = 18, NO_LEVEL_FILTER = 2 };

typedef struct {
  uint32_t geometry, linear;
  uint64_t width, height, depth, layers;
  uint32_t type, order;
  uint64_t row_pitch, slice_pitch;
  uint32_t levels;
  int32_t level;
} wire_image_t;
_Static_assert(sizeof(wire_image_t) == IMAGE_SIZE, "the wire");

typedef struct {
  uint64_t handle, data; /* the object; the texels of the level */
  agent_t *agent;
  wire_image_t wire;
  uint64_t base, texel, row_pitch, slice_pitch;
} image_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *images, *samplers; /* by handle, which is the first member of both */

static int by_handle(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

void forget_images(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  images = samplers = NULL;
}

static bool keep(void **tree, void *record) {
  pthread_mutex_lock(&lock);
  bool good = tsearch(record, tree, by_handle);
  pthread_mutex_unlock(&lock);
  return good;
}

static void *take(void **tree, uint64_t handle) {
  pthread_mutex_lock(&lock);
  void **at = tfind(&handle, tree, by_handle), *record = at ? *at : NULL;
  if (record) tdelete(record, tree, by_handle);
  pthread_mutex_unlock(&lock);
  return record;
}

static bool find_image(hsa_ext_image_t handle, image_t *found) {
  pthread_mutex_lock(&lock);
  image_t **at = tfind(&handle.handle, &images, by_handle);
  if (at) *found = **at;
  pthread_mutex_unlock(&lock);
  return at;
}

static wire_image_t wire_of(const hsa_ext_image_descriptor_t *d, size_t levels) {
  return (wire_image_t){d->geometry, 0, d->width, d->height, d->depth, d->array_size, d->format.channel_type,
                        d->format.channel_order, 0, 0, levels > UINT32_MAX ? UINT32_MAX : levels, -1};
}

static hsa_status_t ask_image(uint32_t operation, agent_t *agent, uint64_t data, const wire_image_t *wire, reply_t *reply) {
  uint64_t arguments[REQUEST_ARGUMENTS] = {agent->node, data};
  struct iovec payload = {(void *)wire, sizeof *wire};
  return ask(operation, arguments, &payload, 1, reply, NULL);
}

static hsa_status_t data_info(hsa_agent_t handle, const wire_image_t *wire, uint32_t permission, hsa_ext_image_data_info_t *info) {
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!permission || permission > HSA_ACCESS_PERMISSION_RW || !info) return BAD;
  *info = (hsa_ext_image_data_info_t){0};
  if (!agent->gpu) return HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
  reply_t reply;
  hsa_status_t status = ask_image(REQUEST_IMAGE, agent, 0, wire, &reply);
  if (!status) *info = (hsa_ext_image_data_info_t){reply.values[0], reply.values[1]};
  return status;
}

static hsa_status_t create(agent_t *agent, const wire_image_t *wire, uint64_t base, hsa_ext_image_t *out) {
  reply_t layout, object;
  hsa_status_t status = ask_image(REQUEST_IMAGE, agent, base, wire, &layout);
  if (!status) status = ask_image(REQUEST_IMAGE_OBJECT, agent, base, wire, &object);
  if (status) return status;
  image_t *image = malloc(sizeof *image);
  if (!image) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *image = (image_t){object.values[0], base + layout.values[5], agent, *wire, base, layout.values[2], layout.values[3],
                     layout.values[4]};
  if (!keep(&images, image)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  out->handle = image->handle;
  say(1, "image_create %lu x %lu x %lu, type %u, order %u, at %#lx: %#lx", wire->width, wire->height,
      wire->depth + wire->layers, wire->type, wire->order, base, out->handle);
  return OK;
}

static hsa_status_t create_checked(hsa_agent_t handle, const wire_image_t *wire, const void *data, uint32_t permission,
                                   hsa_ext_image_t *out) {
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!data || !out || !permission || permission > HSA_ACCESS_PERMISSION_RW) return BAD;
  out->handle = 0;
  return agent->gpu ? create(agent, wire, (uint64_t)data, out) : HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
}

/* What a program leaves out of an explicit layout. */
static hsa_status_t with_layout(agent_t *agent, wire_image_t *wire, uint32_t layout, size_t row, size_t slice) {
  if (layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR) return BAD;
  reply_t reply;
  wire->linear = wire->geometry != HSA_EXT_IMAGE_GEOMETRY_1DB;
  wire->row_pitch = row, wire->slice_pitch = slice;
  if (row || !wire->linear || !agent || !agent->gpu) return OK;
  wire->linear = 0;
  hsa_status_t status = ask_image(REQUEST_IMAGE, agent, 0, wire, &reply);
  wire->linear = 1;
  if (!status) wire->row_pitch = wire->width * reply.values[2];
  return status;
}

/* -- what there is -- */
EXPORT hsa_status_t hsa_ext_image_get_capability(hsa_agent_t handle, uint32_t geometry, const hsa_ext_image_format_t *format,
                                                 uint32_t *mask) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!format || !mask || geometry > HSA_EXT_IMAGE_GEOMETRY_LAST) return BAD;
  *mask = 0;
  if (!agent->gpu) return OK;
  uint64_t arguments[REQUEST_ARGUMENTS] = {agent->node, geometry, format->channel_type, format->channel_order};
  reply_t reply;
  hsa_status_t status = ask(REQUEST_IMAGE_FORMAT, arguments, NULL, 0, &reply, NULL);
  if (!status) *mask = reply.values[0];
  return status;
}
EXPORT hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent, uint32_t geometry,
                                                             const hsa_ext_image_format_t *format, uint32_t layout,
                                                             uint32_t *mask) {
  NEEDS_OPEN();
  return layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR ? hsa_ext_image_get_capability(agent, geometry, format, mask) : BAD;
}

EXPORT hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor,
                                                uint32_t permission, hsa_ext_image_data_info_t *info) {
  NEEDS_OPEN();
  if (!descriptor) return BAD;
  wire_image_t wire = wire_of(descriptor, 1);
  return data_info(agent, &wire, permission, info);
}
EXPORT hsa_status_t hsa_ext_image_data_get_info_v2(hsa_agent_t agent, const hsa_ext_image_descriptor_v2_t *descriptor,
                                                   uint32_t permission, hsa_ext_image_data_info_t *info) {
  NEEDS_OPEN();
  if (!descriptor) return BAD;
  wire_image_t wire = wire_of(&descriptor->image, descriptor->levels);
  return data_info(agent, &wire, permission, info);
}
EXPORT hsa_status_t hsa_ext_image_data_get_info_with_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor,
                                                            uint32_t permission, uint32_t layout, size_t row, size_t slice,
                                                            hsa_ext_image_data_info_t *info) {
  NEEDS_OPEN();
  if (!descriptor) return BAD;
  wire_image_t wire = wire_of(descriptor, 1);
  hsa_status_t status = with_layout(agent_of(agent), &wire, layout, row, slice);
  return status ? status : data_info(agent, &wire, permission, info);
}

/* -- creation -- */
EXPORT hsa_status_t hsa_ext_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor, const void *data,
                                         uint32_t permission, hsa_ext_image_t *out) {
  NEEDS_OPEN();
  if (!descriptor) return BAD;
  wire_image_t wire = wire_of(descriptor, 1);
  return create_checked(agent, &wire, data, permission, out);
}
EXPORT hsa_status_t hsa_ext_image_create_v2(hsa_agent_t agent, const hsa_ext_image_descriptor_v2_t *descriptor, const void *data,
                                            uint32_t permission, hsa_ext_image_t *out) {
  NEEDS_OPEN();
  if (!descriptor) return BAD;
  wire_image_t wire = wire_of(&descriptor->image, descriptor->levels);
  return create_checked(agent, &wire, data, permission, out);
}
EXPORT hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor,
                                                     const void *data, uint32_t permission, uint32_t layout, size_t row,
                                                     size_t slice, hsa_ext_image_t *out) {
  NEEDS_OPEN();
  if (!descriptor) return BAD;
  wire_image_t wire = wire_of(descriptor, 1);
  hsa_status_t status = with_layout(agent_of(agent), &wire, layout, row, slice);
  return status ? status : create_checked(agent, &wire, data, permission, out);
}

/* One level of detail of an image, as an image. `descriptor`, if there is one, gives it another format. */
EXPORT hsa_status_t hsa_ext_image_mipmap_array_get_level(hsa_agent_t handle, const hsa_ext_image_t *array, uint32_t level,
                                                         const hsa_ext_image_descriptor_v2_t *descriptor, hsa_ext_image_t *out) {
  NEEDS_OPEN();
  agent_t *agent = agent_of(handle);
  image_t whole;
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!array || !out || !find_image(*array, &whole) || level >= whole.wire.levels) return BAD;
  wire_image_t wire = whole.wire;
  wire.level = level;
  if (descriptor) wire.type = descriptor->image.format.channel_type, wire.order = descriptor->image.format.channel_order;
  reply_t reply;
  hsa_status_t status = ask_image(REQUEST_IMAGE, agent, whole.base, &wire, &reply);
  if (status) return status;
  return reply.values[2] == whole.texel ? create(agent, &wire, whole.base, out) : BAD;
}

EXPORT hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t handle) {
  NEEDS_OPEN();
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  image_t *image = take(&images, handle.handle);
  if (!image) return BAD;
  free(image);
  return ask_number(REQUEST_FREE, handle.handle, 0, 0, NULL);
}
EXPORT hsa_status_t hsa_ext_image_destroy_v2(hsa_agent_t agent, hsa_ext_image_t image) {
  return hsa_ext_image_destroy(agent, image);
}

/* -- copies -- */
typedef struct { char *at; uint64_t row, slice; } texels_t;

/* Sizes of the level: width, height, depth or layers. An array of one dimension has its layers along y. */
static hsa_dim3_t sizes_of(const image_t *image) {
  const wire_image_t *w = &image->wire;
  int level = w->level > 0 ? w->level : 0;
  bool lines = w->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA;
  uint64_t width = w->width >> level, height = lines ? w->layers : w->height >> level, depth = w->depth >> level;
  if (!lines && w->layers) depth = w->layers;
  return (hsa_dim3_t){width ? width : 1, height ? height : 1, depth ? depth : 1};
}

static hsa_dim3_t at_least_one(hsa_dim3_t range) {
  return (hsa_dim3_t){range.x ? range.x : 1, range.y ? range.y : 1, range.z ? range.z : 1};
}

static bool inside(const image_t *image, hsa_dim3_t offset, hsa_dim3_t range) {
  hsa_dim3_t sizes = sizes_of(image);
  return (uint64_t)offset.x + range.x <= sizes.x && (uint64_t)offset.y + range.y <= sizes.y &&
         (uint64_t)offset.z + range.z <= sizes.z;
}

static texels_t texels_of(const image_t *image, hsa_dim3_t offset) {
  bool lines = image->wire.geometry == HSA_EXT_IMAGE_GEOMETRY_1DA;
  uint64_t row = lines ? image->slice_pitch : image->row_pitch;
  uint64_t at = image->data + offset.x * image->texel + offset.y * row + offset.z * image->slice_pitch;
  return (texels_t){(char *)host_side(at), row, image->slice_pitch};
}

/* Memory without an image: pitches are at least what the range needs. */
static texels_t plain(const image_t *image, const void *memory, size_t row, size_t slice, hsa_dim3_t range) {
  if (row < range.x * image->texel) row = range.x * image->texel;
  if (slice < row * range.y) slice = row * range.y;
  return (texels_t){(char *)host_side((uint64_t)memory), row, slice};
}

static void copy_texels(texels_t to, texels_t from, uint64_t texel, hsa_dim3_t range) {
  for (uint32_t z = 0; z < range.z; z++)
    for (uint32_t y = 0; y < range.y; y++)
      memmove(to.at + z * to.slice + y * to.row, from.at + z * from.slice + y * from.row, range.x * texel);
}

/* Copies between an image's texels and rows of them in memory. */
static hsa_status_t transfer(hsa_agent_t agent, const void *memory, size_t row, size_t slice, hsa_ext_image_t handle,
                             const hsa_ext_image_region_t *region, bool import) {
  NEEDS_OPEN();
  image_t image;
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!memory || !region || !find_image(handle, &image)) return BAD;
  hsa_dim3_t range = at_least_one(region->range);
  if (!inside(&image, region->offset, range)) return BAD;
  say(1, "image_%s %#lx, %p, %u x %u x %u", import ? "import" : "export", handle.handle, memory, range.x, range.y, range.z);
  texels_t rows = plain(&image, memory, row, slice, range), texels = texels_of(&image, region->offset);
  copy_texels(import ? texels : rows, import ? rows : texels, image.texel, range);
  return OK;
}

EXPORT hsa_status_t hsa_ext_image_import(hsa_agent_t agent, const void *memory, size_t row, size_t slice, hsa_ext_image_t handle,
                                         const hsa_ext_image_region_t *region) {
  return transfer(agent, memory, row, slice, handle, region, true);
}

EXPORT hsa_status_t hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t handle, void *memory, size_t row, size_t slice,
                                         const hsa_ext_image_region_t *region) {
  return transfer(agent, memory, row, slice, handle, region, false);
}

static void convert_texels(texels_t to, texels_t from, hsa_dim3_t range, const uint8_t *table) {
  for (uint32_t z = 0; z < range.z; z++)
    for (uint32_t y = 0; y < range.y; y++) {
      uint8_t *target = (uint8_t *)to.at + z * to.slice + y * to.row, *source = (uint8_t *)from.at + z * from.slice + y * from.row;
      for (uint32_t i = 0; i < 4 * range.x; i++) target[i] = i % 4 == 3 ? source[i] : table[source[i]];
    }
}

/* Formats are to be the same, but that texels may go between linear and standard RGB. */
EXPORT hsa_status_t hsa_ext_image_copy(hsa_agent_t agent, hsa_ext_image_t source, const hsa_dim3_t *source_offset,
                                       hsa_ext_image_t target, const hsa_dim3_t *target_offset, const hsa_dim3_t *wanted) {
  NEEDS_OPEN();
  image_t from, to;
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!source_offset || !target_offset || !wanted || !find_image(source, &from) || !find_image(target, &to)) return BAD;
  hsa_dim3_t range = at_least_one(*wanted);
  if (from.agent != to.agent || from.wire.type != to.wire.type) return BAD;
  if (!inside(&from, *source_offset, range) || !inside(&to, *target_offset, range)) return BAD;
  say(1, "image_copy %#lx <- %#lx, %u x %u x %u", target.handle, source.handle, range.x, range.y, range.z);
  texels_t there = texels_of(&to, *target_offset), here = texels_of(&from, *source_offset);
  if (from.wire.order == to.wire.order) {
    copy_texels(there, here, from.texel, range);
    return OK;
  }
  bool standard = to.wire.order == SRGBA_ORDER;
  if (from.wire.type != UNORM_INT8 || from.wire.order != (standard ? RGBA_ORDER : SRGBA_ORDER)) return BAD;
  if (!standard && to.wire.order != RGBA_ORDER) return BAD;
  reply_t reply;
  char *table;
  uint64_t arguments[REQUEST_ARGUMENTS] = {standard};
  hsa_status_t status = ask(REQUEST_SRGB, arguments, NULL, 0, &reply, &table);
  if (status) return status;
  convert_texels(there, here, range, (uint8_t *)table);
  free(table);
  return OK;
}

EXPORT hsa_status_t hsa_ext_image_clear(hsa_agent_t handle, hsa_ext_image_t image_handle, const void *data,
                                        const hsa_ext_image_region_t *region) {
  NEEDS_OPEN();
  image_t image;
  agent_t *agent = agent_of(handle);
  if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!data || !region || !find_image(image_handle, &image)) return BAD;
  hsa_dim3_t range = at_least_one(region->range);
  if (!inside(&image, region->offset, range)) return BAD;
  uint64_t arguments[REQUEST_ARGUMENTS] = {image.agent->node, image.wire.type, image.wire.order};
  memcpy(&arguments[3], data, image.wire.order == DEPTH_ORDER ? 4 : 16);
  reply_t reply;
  char *texel;
  hsa_status_t status = ask(REQUEST_TEXEL, arguments, NULL, 0, &reply, &texel);
  if (status) return status;
  texels_t to = texels_of(&image, region->offset);
  for (uint32_t z = 0; z < range.z; z++)
    for (uint32_t y = 0; y < range.y; y++)
      for (uint32_t x = 0; x < range.x; x++)
        memcpy(to.at + z * to.slice + y * to.row + x * image.texel, texel, image.texel);
  free(texel);
  return OK;
}

/* -- samplers -- */
static hsa_status_t create_sampler(hsa_agent_t handle, uint32_t normalized, uint32_t filter, uint32_t level_filter,
                                   const uint32_t *modes, hsa_ext_sampler_t *out) {
  agent_t *agent = agent_of(handle);
  if (!agent || !agent->gpu) return HSA_STATUS_ERROR_INVALID_AGENT;
  uint64_t arguments[REQUEST_ARGUMENTS] = {agent->node, normalized, filter, level_filter, modes[0] | (uint64_t)modes[1] << 32,
                                           modes[2]};
  reply_t reply;
  out->handle = 0;
  hsa_status_t status = ask(REQUEST_SAMPLER, arguments, NULL, 0, &reply, NULL);
  if (status) return status;
  uint64_t *record = malloc(sizeof *record);
  if (!record) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *record = out->handle = reply.values[0];
  return keep(&samplers, record) ? OK : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}
EXPORT hsa_status_t hsa_ext_sampler_create(hsa_agent_t agent, const hsa_ext_sampler_descriptor_t *d, hsa_ext_sampler_t *out) {
  NEEDS_OPEN();
  if (!d || !out) return BAD;
  uint32_t modes[3] = {d->address_mode, d->address_mode, d->address_mode};
  return create_sampler(agent, d->coordinate_mode, d->filter_mode, NO_LEVEL_FILTER, modes, out);
}
EXPORT hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t *d, hsa_ext_sampler_t *out) {
  NEEDS_OPEN();
  if (!d || !out) return BAD;
  return create_sampler(agent, d->coordinate_mode, d->filter_mode, d->level_filter_mode, d->address_modes, out);
}
EXPORT hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler) {
  NEEDS_OPEN();
  if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  void *record = take(&samplers, sampler.handle);
  if (!record) return BAD;
  free(record);
  return ask_number(REQUEST_FREE, sampler.handle, 0, 0, NULL);
}

/* -- the tables of hsa_system_get_major_extension_table -- */
void images_table(size_t size, void *table) {
  const void *functions[] = {
    hsa_ext_image_get_capability, hsa_ext_image_data_get_info, hsa_ext_image_create, hsa_ext_image_destroy,
    hsa_ext_image_copy, hsa_ext_image_import, hsa_ext_image_export, hsa_ext_image_clear, hsa_ext_sampler_create,
    hsa_ext_sampler_destroy, hsa_ext_image_get_capability_with_layout, hsa_ext_image_data_get_info_with_layout,
    hsa_ext_image_create_with_layout,
  };
  memcpy(table, functions, size < sizeof functions ? size : sizeof functions);
}
