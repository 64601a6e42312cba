/* What the library declares of the image extension (HSA Runtime Programmer's Reference Manual 1.2, 3.2) and of its
 * second version, which has levels of detail. */
#ifndef ROCDBG_IMAGES_H
#define ROCDBG_IMAGES_H

#include "hsa.h"

HANDLE(hsa_ext_image_t);
HANDLE(hsa_ext_sampler_t);

enum {
  HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED = 0x3000,
  HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED = 0x3001,
  HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED = 0x3002,
};
enum { HSA_EXT_IMAGE_GEOMETRY_1DA = 3, HSA_EXT_IMAGE_GEOMETRY_1DB = 5, HSA_EXT_IMAGE_GEOMETRY_LAST = 7 };
enum { HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR };
enum { HSA_ACCESS_PERMISSION_RO = 1, HSA_ACCESS_PERMISSION_WO, HSA_ACCESS_PERMISSION_RW };

typedef struct { uint32_t channel_type, channel_order; } hsa_ext_image_format_t;
typedef struct {
  uint32_t geometry;
  size_t width, height, depth, array_size; /* texels; 0 where a geometry has no such size */
  hsa_ext_image_format_t format;
} hsa_ext_image_descriptor_t;
typedef struct {
  hsa_ext_image_descriptor_t image;
  size_t levels;
} hsa_ext_image_descriptor_v2_t;
typedef struct { size_t size, alignment; } hsa_ext_image_data_info_t;
typedef struct { hsa_dim3_t offset, range; } hsa_ext_image_region_t;
typedef struct { uint32_t coordinate_mode, filter_mode, address_mode; } hsa_ext_sampler_descriptor_t;
typedef struct { uint32_t coordinate_mode, filter_mode, level_filter_mode, address_modes[3]; } hsa_ext_sampler_descriptor_v2_t;
_Static_assert(sizeof(hsa_ext_image_descriptor_t) == 48 && sizeof(hsa_ext_image_descriptor_v2_t) == 56, "images");

#endif
