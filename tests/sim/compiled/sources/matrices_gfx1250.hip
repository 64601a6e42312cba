// One product of matrices per instruction: lane l has row or column l % 16 and, of its elements, blocks of eight: those
// that are even among all blocks in lanes 0 to 15, the odd ones in the others. Rows 8 * (l / 16) + n of column l % 16
// are register n of the result.
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(32, 32))) void
#define LANE __builtin_amdgcn_workitem_id_x()
template <typename T, int N> using Vector = T __attribute__((ext_vector_type(N)));

template <typename V, typename T> __attribute__((device)) V factors(const T *matrix, int depth)
{
    V v;
    const T *row = matrix + LANE % 16 * depth + LANE / 16 * 8;
    constexpr int count = sizeof(V) / sizeof(T);
    for (int n = 0; n < count; n++)
        ((T *)&v)[n] = row[n / 8 * 16 + n % 8];
    return v;
}

template <typename V, typename T> __attribute__((device)) V sums(const T *matrix)
{
    V v;
    for (int n = 0; n < 8; n++)
        v[n] = matrix[(LANE / 16 * 8 + n) * 16 + LANE % 16];
    return v;
}

template <typename V, typename T> __attribute__((device)) void store(T *matrix, V v)
{
    for (int n = 0; n < 8; n++)
        matrix[(LANE / 16 * 8 + n) * 16 + LANE % 16] = v[n];
}

KERNEL f32_f16(float *d, const _Float16 *a, const _Float16 *b, const float *c)
{
    using V = Vector<_Float16, 16>;
    auto s = sums<Vector<float, 8>>(c);
    store(d, __builtin_amdgcn_wmma_f32_16x16x32_f16(false, factors<V>(a, 32), false, factors<V>(b, 32), (short)0, s, false, false));
}

KERNEL f16_f16(_Float16 *d, const _Float16 *a, const _Float16 *b, const _Float16 *c)
{
    using V = Vector<_Float16, 16>;
    auto s = sums<Vector<_Float16, 8>>(c);
    store(d, __builtin_amdgcn_wmma_f16_16x16x32_f16(false, factors<V>(a, 32), false, factors<V>(b, 32), (short)0, s, false, false));
}

KERNEL f32_bf16(float *d, const __bf16 *a, const __bf16 *b, const float *c)
{
    using V = Vector<__bf16, 16>;
    auto s = sums<Vector<float, 8>>(c);
    store(d, __builtin_amdgcn_wmma_f32_16x16x32_bf16(false, factors<V>(a, 32), false, factors<V>(b, 32), (short)0, s, false, false));
}

KERNEL i32_i8(int *d, const signed char *a, const signed char *b, const int *c)
{
    using V = Vector<int, 8>;
    auto s = sums<V>(c);
    store(d, __builtin_amdgcn_wmma_i32_16x16x64_iu8(true, factors<V>(a, 64), true, factors<V>(b, 64), s, false, false));
}

KERNEL i32_u8(int *d, const unsigned char *a, const unsigned char *b, const int *c)
{
    using V = Vector<int, 8>;
    auto s = sums<V>(c);
    store(d, __builtin_amdgcn_wmma_i32_16x16x64_iu8(false, factors<V>(a, 64), false, factors<V>(b, 64), s, false, false));
}

KERNEL f32_fp8_64(float *d, const signed char *a, const signed char *b, const float *c)
{
    using V = Vector<int, 8>;
    auto s = sums<Vector<float, 8>>(c);
    store(d, __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8(factors<V>(a, 64), factors<V>(b, 64), (short)0, s, false, false));
}

KERNEL f32_fp8_128(float *d, const signed char *a, const signed char *b, const float *c)
{
    using V = Vector<int, 16>;
    auto s = sums<Vector<float, 8>>(c);
    store(d, __builtin_amdgcn_wmma_f32_16x16x128_fp8_fp8(factors<V>(a, 128), factors<V>(b, 128), (short)0, s, false, false));
}
