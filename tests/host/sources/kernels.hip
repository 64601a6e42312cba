// Kernels for the client of the runtime library: no headers, no library.
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))

typedef unsigned int uint;
typedef unsigned long ulong;

static DEVICE uint item() {
    return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

DEVICE uint counter = 5;
DEVICE __attribute__((constant)) uint limits[4] = {10, 20, 30, 40};
extern DEVICE __attribute__((visibility("default"))) uint outside;

KERNEL void empty() {}

KERNEL void saxpy(float a, const float *x, float *y, int n) {
    uint i = item();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// Ends when the host, or another kernel, sets the flag.
KERNEL void wait_for(volatile uint *flag, uint *seen) {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
        __builtin_amdgcn_s_sleep(1);
    if (item() == 0)
        *seen = *flag;
}

KERNEL void set_flag(uint *flag, uint value) {
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

KERNEL void count(uint *out) {
    if (item() == 0)
        *out = ++counter + limits[1] + outside;
}

// Where each work-item is, in a grid of three dimensions.
KERNEL void positions(uint *out, uint width, uint height) {
    uint x = item();
    uint y = __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
    uint z = __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
    out[(z * height + y) * width + x] = z << 16 | y << 8 | x;
}

extern SHARED uint room[];

KERNEL void reversed(uint *data) {
    uint i = __builtin_amdgcn_workitem_id_x();
    room[i] = data[i];
    __builtin_amdgcn_s_barrier();
    data[i] = room[__builtin_amdgcn_workgroup_size_x() - 1 - i];
}

KERNEL void debug_trap(uint *out) {
    __builtin_debugtrap();
    *out = 3;
}

KERNEL void trap() { __builtin_trap(); }

// Decrements a signal of the program, as kernels that call the host do.
KERNEL void ring(long *value) {
    if (item() == 0)
        __atomic_fetch_sub(value, 1, __ATOMIC_SEQ_CST);
}

// Every workgroup waits for all others, as grid.sync() does, and then reads what the next one has written before.
KERNEL void rendezvous(uint *arrived, uint *written, uint *seen, uint groups) {
    uint group = __builtin_amdgcn_workgroup_id_x();
    if (__builtin_amdgcn_workitem_id_x() == 0) {
        written[group] = group * group;
        __atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
        while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < groups)
            __builtin_amdgcn_s_sleep(1);
        seen[group] = written[(group + 1) % groups];
    }
}
