// What kernels ask a host for: printf, device memory, assert. Linked with ROCm's device libraries.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *__ockl_dm_alloc(unsigned long);
extern "C" __device__ void __ockl_dm_dealloc(unsigned long);
extern "C" __device__ unsigned long __ockl_call_host_function(unsigned long, unsigned long, unsigned long, unsigned long,
                                                              unsigned long, unsigned long, unsigned long, unsigned long);

__device__ unsigned lane() { return __builtin_amdgcn_workitem_id_x(); }
__device__ unsigned item() { return __builtin_amdgcn_workgroup_id_x() * 64 + lane(); }

extern "C" __attribute__((used)) __device__ int says(int what) { return printf("says %d\n", what); }

extern "C" __global__ void formats(int *out, const char *name) {
    int i = lane();
    out[i] = printf("%s|%5d|%-5u|%#x|%c|%%\n", name, -i, i, i + 16, 'a' + i);
    if (i & 1)
        printf("%*.*f %.3s %p %ld\n", 8, 2, i / 3.0, "a literal string of more than fifty-six bytes, in two parts or more",
               (void *)out, 1L << (40 + i));
}

extern "C" __global__ void small(unsigned *out) {
    unsigned i = item(), sum = 0;
    unsigned *numbers = (unsigned *)__ockl_dm_alloc(4 * (i % 7 + 1));
    for (unsigned k = 0; k <= i % 7; k++)
        numbers[k] = i + k;
    for (unsigned k = 0; k <= i % 7; k++)
        sum += numbers[k];
    out[i] = sum;
    __ockl_dm_dealloc((unsigned long)numbers);
}

extern "C" __global__ void take(unsigned **kept) {
    unsigned i = item();
    unsigned *piece = (unsigned *)__ockl_dm_alloc(5000);
    piece[1249] = i;
    kept[i] = piece;
}

extern "C" __global__ void give(unsigned **kept, unsigned *out) {
    unsigned i = item();
    out[i] = kept[i][1249];
    __ockl_dm_dealloc((unsigned long)kept[i]);
}

extern "C" __global__ void too_late(unsigned **kept, unsigned *out) {
    out[item()] = kept[item()][1249];
}

extern "C" __global__ void in_turn(unsigned **kept, int rounds) {
    for (int round = 0; round < rounds; round++) {
        unsigned *piece = (unsigned *)__ockl_dm_alloc(4096);
        piece[lane()] = round;
        kept[round] = piece;
        if (round & 1)
            __ockl_dm_dealloc((unsigned long)piece);
    }
}

extern "C" __global__ void huge(void **out) { out[0] = __ockl_dm_alloc(1UL << 50); }

extern "C" __device__ unsigned long __ockl_fprintf_stderr_begin();
extern "C" __device__ unsigned long __ockl_fprintf_append_string_n(unsigned long, const char *, unsigned long, unsigned);
extern "C" __device__ unsigned long __ockl_fprintf_append_args(unsigned long, unsigned, unsigned long, unsigned long,
                                                               unsigned long, unsigned long, unsigned long,
                                                               unsigned long, unsigned long, unsigned);

__device__ void failed(const char *what, unsigned long size, unsigned line) {
    unsigned long message = __ockl_fprintf_stderr_begin();
    message = __ockl_fprintf_append_string_n(message, "line %u: `%s' is false\n", 24, 0);
    message = __ockl_fprintf_append_args(message, 1, line, 0, 0, 0, 0, 0, 0, 0);
    __ockl_fprintf_append_string_n(message, what, size, 1);
    __builtin_trap();
}

#define assert(condition) ((condition) ? (void)0 : failed(#condition, sizeof #condition, __LINE__))

extern "C" __global__ void checked(int *values) {
    int value = values[lane()];
    assert(value < 3);
    values[lane()] = -value;
}

extern "C" __global__ void calls_the_host() { __ockl_call_host_function(0x1234, 1, 2, 3, 4, 5, 6, 7); }

extern "C" __global__ void damages(int what) {
    // behind the code object's own arguments: implicit argument 10 is the hostcall buffer
    unsigned long *buffer = ((unsigned long **)__builtin_amdgcn_implicitarg_ptr())[10];
    unsigned long ready = what ? 1 : 255;  // its own follower, or no packet
    if (what)
        *(unsigned long *)(buffer[0] + 24) = 1;
    buffer[4] = ready;
    __builtin_amdgcn_s_sendmsg(1, 0);
    printf("not reached\n");
}

extern "C" __global__ void frees_what_is_watched(unsigned **kept, unsigned *out, unsigned long size) {
    unsigned *piece = (unsigned *)__ockl_dm_alloc(size);
    piece[4] = 1;
    kept[0] = piece;
    for (int i = 0; i < 9; i++)
        __atomic_fetch_add(out, 1, 0);
    piece[4] = 2;
    __ockl_dm_dealloc((unsigned long)piece);
    for (int i = 0; i < 9; i++)
        __atomic_fetch_add(out, 1, 0);
}
