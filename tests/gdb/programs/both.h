/* What differs between a kernel and a host function. */
#ifdef __AMDGCN__
#ifdef __HIP__
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#pragma clang force_cuda_host_device begin
#else
#define KERNEL __attribute__((amdgpu_kernel))
#define DEVICE
#endif
#else
#ifdef __cplusplus
#define KERNEL extern "C"
#else
#define KERNEL
#endif
#define DEVICE
#endif
