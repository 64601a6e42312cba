// Kernels that write down what they see: TRACE(SLOT, EXPR) stores EXPR as this work-item has it on that line. The
// tests stop on every such line, evaluate the same text in the debugger for each lane, and compare.
#pragma once
#ifdef __HIP__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define BIT_CAST(T, e) __builtin_bit_cast(T, e)
#define LONG long long
#else
#define BIT_CAST(T, e) as_long(e)
#define LONG long
#endif
#define SYNC() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
                    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
#define ITEM __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define ITEMS 160
#define GROUP_SIZE 80
// The no-operation marks the place to stop: EXPR has been computed there, also in optimised code, where the store
// may be anywhere.
#define TRACE_BITS(slot, bits) \
    do { \
        LONG bits_ = (bits); \
        __asm__ volatile("s_nop 5" :: "v"(bits_) : "memory"); \
        trace[(slot) * ITEMS + gid] = bits_; \
    } while (0)
#define TRACE(slot, e) TRACE_BITS(slot, (LONG)(e))
#define TRACEF(slot, e) TRACE_BITS(slot, BIT_CAST(LONG, (double)(e)))
