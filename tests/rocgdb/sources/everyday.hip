// Everyday debugging of a kernel: lanes that part without lane PCs, addresses of every kind, deep calls.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
typedef unsigned int uint32_t;
typedef unsigned long size_t;

__device__ size_t *global_ptr;
__device__ size_t *global_ptr2;
__device__ int counter;

__device__ void bar() { counter++; }  // in bar

__device__ int base_case(int x) { return x + 1; }  // base
template <unsigned N> __device__ int deep(int x) { return deep<N - 1>(x) + 1; }
template <> __device__ int deep<0>(int x) { return base_case(x) + 1; }

__global__ void kern(int *out)
{
  uint32_t tid = __builtin_amdgcn_workitem_id_x();
  size_t local_var = tid;
  volatile int local = tid;
  volatile int *gen_local_addr = &local;
  unsigned char arr[5] = {0x11, 0x22, 0x33, 0x44, 0x55};
  volatile uint32_t *gen_arr1_addr = (uint32_t *)(arr + 1);
  global_ptr = &local_var;
  if (tid % 2)
    bar();
  out[tid] = deep<3>(tid) + *gen_local_addr + *gen_arr1_addr + *global_ptr;  // addresses
}
