// What the kernels of these tests use of HIP.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __noinline__ __attribute__((noinline))
#define __inline__ __attribute__((always_inline)) inline

static __device__ __inline__ unsigned item() { return __builtin_amdgcn_workitem_id_x(); }
static __device__ __inline__ unsigned group() { return __builtin_amdgcn_workgroup_id_x(); }
#define ITEMS_PER_GROUP 40
