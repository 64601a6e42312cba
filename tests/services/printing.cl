// OpenCL's printf. The compiler makes calls of __printf_alloc of it, which the device libraries have.
__attribute__((used, noinline)) __global char *__printf_alloc(uint bytes) {
    volatile __global atomic_uint *used = ((__global atomic_uint *__constant *)__builtin_amdgcn_implicitarg_ptr())[9];
    uint size = ((__global uint *)used)[1], at = __opencl_atomic_load(used, memory_order_relaxed, memory_scope_device);
    do {
        if (8 + at + bytes > size)
            return 0;
    } while (!__opencl_atomic_compare_exchange_strong(used, &at, at + bytes, memory_order_relaxed, memory_order_relaxed,
                                                      memory_scope_device));
    return (__global char *)used + 8 + at;
}

__kernel void vectors(__global int *out, float x) {
    int i = __builtin_amdgcn_workitem_id_x();
    out[i] = printf("lane %d: %v4hlf|%s|%5.2e|%c%%\n", i, (float4)(i, x, -1.0f, INFINITY), "text", 1.0f / 3, 'x');
    if (i & 1)
        printf("%hhd %v3hd %v2hlx|", (char)-i, (short3)(1, 2, i), (uint2)(-1, i));
    printf("%ld %lu %p a:b\n", (long)i << 40, (ulong)-1, out);
}

__kernel void many(__global int *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = printf("%d\n", i);
}

__kernel void wide(__global int *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = printf("%d:%s\n", i, "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789");
}

__kernel void queue(__global ulong *out) {
    __global uint *header = ((__global uint *__constant *)__builtin_amdgcn_implicitarg_ptr())[13];
    __global uint *wrap = ((__global uint *__constant *)__builtin_amdgcn_implicitarg_ptr())[14];
    __global uint *mask = *(__global uint *__global *)(header + 6);
    wrap[3] += 1;
    out[0] = header[0];
    out[1] = *mask;
    out[2] = wrap[3];
    printf("%d", header[12]);
}
