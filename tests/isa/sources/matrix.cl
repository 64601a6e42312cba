// Matrix and dot instructions of whatever target this is compiled for.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef float floatx8 __attribute__((ext_vector_type(8)));
typedef float floatx16 __attribute__((ext_vector_type(16)));
typedef double doublex4 __attribute__((ext_vector_type(4)));
typedef half halfx4 __attribute__((ext_vector_type(4)));
typedef half halfx16 __attribute__((ext_vector_type(16)));
typedef int intx4 __attribute__((ext_vector_type(4)));
typedef int intx8 __attribute__((ext_vector_type(8)));

kernel void dots(global float *f, global const half2 *h, global int *n) {
    size_t i = get_global_id(0);
    f[i] = fma((float)h[i].x, (float)h[i].y, f[i]);
    n[i] += (short)n[i] * (short)(n[i] >> 16);
}

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
kernel void mfma(global floatx16 *d, global floatx4 *e, global const float *a, global const halfx4 *h) {
    size_t i = get_local_id(0);
    d[i] = __builtin_amdgcn_mfma_f32_32x32x2f32(a[i], a[i + 64], d[i], 0, 0, 0);
    e[i] = __builtin_amdgcn_mfma_f32_16x16x16f16(h[i], h[i + 64], e[i], 1, 2, 3);
    e[i + 64] = __builtin_amdgcn_mfma_f32_4x4x1f32(a[i], 1.0f, (floatx4)(0.0f), 0, 0, 0);
}
#endif
#if defined(__gfx90a__) || defined(__gfx942__)
kernel void mfma_f64(global doublex4 *d, global const double *a, global double *s, global float2 *p) {
    size_t i = get_local_id(0);
    d[i] = __builtin_amdgcn_mfma_f64_16x16x4f64(a[i], a[i + 64], d[i], 0, 0, 0);
    s[i] = __builtin_amdgcn_mfma_f64_4x4x4f64(a[i], a[i + 1], s[i], 0, 0, 0);
    p[i] = p[i] * p[i + 64] + p[i + 128];
}
#endif
#if defined(__GFX11__)
kernel void wmma(global floatx8 *d, global const halfx16 *h, global intx8 *n, global const intx4 *b) {
    size_t i = get_local_id(0);
    d[i] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(h[i], h[i + 32], d[i]);
    n[i] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, b[i], false, b[i + 32], n[i], true);
}
#endif
