// Small kernels, one per thing a machine must get right. No headers: builtins only.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
typedef unsigned int u32;

__device__ u32 work_item(int axis) {
  return axis == 0   ? __builtin_amdgcn_workitem_id_x()
         : axis == 1 ? __builtin_amdgcn_workitem_id_y()
                     : __builtin_amdgcn_workitem_id_z();
}
__device__ u32 group_id(int axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_id_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_id_y()
                     : __builtin_amdgcn_workgroup_id_z();
}
__device__ u32 group_size(int axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_size_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_size_y()
                     : __builtin_amdgcn_workgroup_size_z();
}
__device__ u32 grid_size(int axis) {
  return axis == 0   ? __builtin_amdgcn_grid_size_x()
         : axis == 1 ? __builtin_amdgcn_grid_size_y()
                     : __builtin_amdgcn_grid_size_z();
}

// out[global id] = work-item id | group id << 12 (four bits for each axis), one element for each grid position.
extern "C" __global__ void ids(u32 *out, u32 wx, u32 wy, u32 wz) {
  u32 width[3] = {wx, wy, wz}, at = 0, value = 0;
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) {
    u32 global = group_id(axis) * width[axis] + work_item(axis);
    at = at * grid_size(axis) + global;
    value |= work_item(axis) << (axis * 4) | group_id(axis) << (12 + axis * 4);
  }
  out[at] = value;
}

// What the hidden arguments and the dispatch packet say, written by the first work-item of each group.
extern "C" __global__ void sizes(u32 *out) {
  if (work_item(0) | work_item(1) | work_item(2)) return;
  out += group_id(0) * 8;
  for (int axis = 0; axis < 3; ++axis) {
    out[axis] = group_size(axis);
    out[3 + axis] = grid_size(axis);
  }
  out[6] = __builtin_amdgcn_wavefrontsize();
}

// Reverses each group's part of `data` through LDS.
extern "C" __global__ void reverse(int *data) {
  __shared__ int part[256];
  u32 item = work_item(0), base = group_id(0) * 256;
  part[item] = data[base + item];
  __builtin_amdgcn_s_barrier();
  data[base + item] = part[255 - item];
}

// The sum of each group's part of `data` by a tree in dynamic LDS, in several rounds with barriers.
extern __shared__ int dynamic[];
extern "C" __global__ void tree(const int *data, int *sums, int count) {
  u32 item = work_item(0);
  dynamic[item] = data[group_id(0) * count + item];
  for (u32 half = count / 2; half; half /= 2) {
    __builtin_amdgcn_s_barrier();
    if (item < half) dynamic[item] += dynamic[item + half];
  }
  if (item == 0) sums[group_id(0)] = dynamic[0];
}

// Each lane sorts its own part in private memory.
extern "C" __global__ void sort(int *data, int count) {
  int mine[8];
  u32 base = (group_id(0) * 64 + work_item(0)) * 8;
  for (int i = 0; i < count; ++i) mine[i] = data[base + i];
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j)
      if (mine[j] < mine[i]) {
        int t = mine[i];
        mine[i] = mine[j];
        mine[j] = t;
      }
  for (int i = 0; i < count; ++i) data[base + i] = mine[i];
}

// A pointer to private and one to shared memory, used as generic ones.
__device__ __attribute__((noinline)) void bump(int *p) { *p += 5; }
extern "C" __global__ void generic(int *out) {
  __shared__ int shared[64];
  u32 item = work_item(0);
  int own = item;
  shared[item] = item * 2;
  bump(&own);
  bump(&shared[item]);
  bump(&out[item]);
  out[item] += own * 1000 + shared[item] * 1000000;
}

__device__ __attribute__((noinline)) int depth(int n) { return n < 2 ? 1 : depth(n - 1) + depth(n - 2); }
extern "C" __global__ void recurse(int *out) { out[work_item(0)] = depth(work_item(0) & 7); }

__device__ int counter;
__device__ int table[4] = {10, 20, 30, 40};
extern "C" __global__ void globals(int *out) {
  __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
  out[group_id(0) * 64 + work_item(0)] = table[work_item(0) & 3];
}

// Faults, each by some lanes only.
extern "C" __global__ void store_at(int *p, long lane_stride, u32 first_lane) {
  u32 item = work_item(0);
  if (item >= first_lane) p[(item - first_lane) * lane_stride] = item;
}
extern "C" __global__ void load_at(const int *p, int *out) { out[work_item(0)] = p[work_item(0)]; }
extern "C" __global__ void lds_at(int *out, u32 index) {
  __shared__ volatile int part[64];
  part[work_item(0)] = 1;
  out[work_item(0)] = part[index];
}
extern "C" __global__ void trap(int *out) {
  out[work_item(0)] = 1;
  if (work_item(0) == 3) __builtin_trap();
}
extern "C" __global__ void debugtrap(int *out) {
  __builtin_debugtrap();
  out[work_item(0)] = 7;
}
extern "C" __global__ void forever(volatile int *p) {
  while (*p == 0) {
  }
}

struct Pair {
  float a;
  long b;
};
extern "C" __global__ void by_value(float *out, struct Pair pair, double d, unsigned char c) {
  out[work_item(0)] = pair.a + pair.b + d + c;
}

// A plain C++ name, and two instances of a template.
__global__ void mangled(int *out, int value) { out[work_item(0)] = value; }
template <int N> __global__ void instance(int *out) { out[work_item(0)] = N; }
template __global__ void instance<3>(int *);
template __global__ void instance<4>(int *);
