// LDS, barriers, atomics, private arrays, byte and short accesses, address spaces and a call.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

typedef struct { char c; short s; int i; long l; float3 f; } mixed;

__attribute__((noinline)) static int callee(private int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; ++i) s += p[(i * 7) & 15];
    return n > 8 ? s : s ^ n;
}

kernel void reduce(global int *out, global const int *in, local int *scratch) {
    int l = get_local_id(0), n = get_local_size(0);
    scratch[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = n / 2; s > 0; s >>= 1) {
        if (l < s) scratch[l] += scratch[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) atomic_add(out, scratch[0]);
}

kernel void atomics(global int *g, global ulong *w, local uint *l, global float *f) {
    int i = get_global_id(0);
    g[i] = atomic_cmpxchg(g + 1, i, 5) + atomic_max(g + 2, i) + atomic_inc(g + 3);
    atom_add(w, 3ul);
    l[i & 15] = atomic_xchg(l, 7u) + atomic_or(l + 1, 1u << (i & 31));
    f[i] = atomic_xchg(f + 1, 2.0f);
}

kernel void structs(global mixed *m, constant mixed *k, int n) {
    int buffer[16];
    for (int i = 0; i < 16; ++i) buffer[i] = k[i & 1].i * i + n;
    int id = get_global_id(0);
    mixed v = m[id];
    v.c += k->c;
    v.s -= (short)callee(buffer, v.i & 15);
    v.l ^= (long)id << 33;
    v.f *= 2.0f;
    m[id] = v;
}

kernel void generic_pointers(global int *g, local int *l, int which) {
    int p[4] = {1, 2, 3, which};
    int *q = which == 0 ? (int *)g : which == 1 ? (int *)l : (int *)p;
    q[get_local_id(0) & 3] += 5;
    g[get_global_id(0)] = p[which & 3] + *q;
}
