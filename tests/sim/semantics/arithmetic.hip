// One result per line of each kernel: slot k, 64 work-items wide. test_compiled.py computes the same with NumPy.
#define KERNEL extern "C" __attribute__((global)) void
#define PUT(slot, value) out[(slot) * 64 + i] = (value)
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef _Float16 half;

KERNEL k_i32(int *out, const int *a, const int *b) {
  int i = __builtin_amdgcn_workitem_id_x();
  int x = a[i], y = b[i];
  u32 u = x, v = y;
  PUT(0, x + y);
  PUT(1, x - y);
  PUT(2, x * y);
  PUT(3, x / y);
  PUT(4, x % y);
  PUT(5, u / v);
  PUT(6, u % v);
  PUT(7, u << (v & 31));
  PUT(8, x >> (v & 31));
  PUT(9, u >> (v & 31));
  PUT(10, ((i64)x * y) >> 32);
  PUT(11, ((u64)u * v) >> 32);
  PUT(12, __builtin_popcount(u));
  PUT(13, __builtin_clz(u | 1));
  PUT(14, __builtin_ctz(u | 0x80000000u));
  PUT(15, __builtin_bitreverse32(u));
  PUT(16, __builtin_bswap32(u));
  PUT(17, __builtin_rotateleft32(u, v));
  PUT(18, (x << 8) >> 20);
  PUT(19, x < y ? x : y);
  PUT(20, u > v ? u : v);
  PUT(21, x < 0 ? -x : x);
  PUT(22, (x & y) | (~x & 0x55aa55aa));
  PUT(23, __builtin_elementwise_add_sat(x, y));
  PUT(24, __builtin_elementwise_sub_sat(u, v));
  PUT(25, (x & 0xffffff) * (y & 0xffffff) + 5);
  PUT(26, (short)x * (short)y);
  PUT(27, (signed char)x + (unsigned char)y);
}

KERNEL k_i64(i64 *out, const i64 *a, const i64 *b) {
  int i = __builtin_amdgcn_workitem_id_x();
  i64 x = a[i], y = b[i];
  u64 u = x, v = y;
  PUT(0, x + y);
  PUT(1, x - y);
  PUT(2, x * y);
  PUT(3, u << (v & 63));
  PUT(4, x >> (v & 63));
  PUT(5, u >> (v & 63));
  PUT(6, x < y ? x : y);
  PUT(7, u < v ? v : u);
  PUT(8, x / (y >> 20 | 1));
  PUT(9, u % (v >> 20 | 1));
  PUT(10, __builtin_popcountll(u));
  PUT(11, __builtin_clzll(u | 1));
  PUT(12, x == y ? 1 : x < 0 ? -x : x);
  PUT(13, (i64)(double)(x >> 12));
}

KERNEL k_f32(float *out, const float *a, const float *b) {
  int i = __builtin_amdgcn_workitem_id_x();
  float x = a[i], y = b[i];
  PUT(0, x + y);
  PUT(1, x - y);
  PUT(2, x * y);
  PUT(3, x / y);
  PUT(4, __builtin_sqrtf(__builtin_fabsf(x)));
  PUT(5, __builtin_floorf(x));
  PUT(6, __builtin_ceilf(x));
  PUT(7, __builtin_truncf(x));
  PUT(8, __builtin_rintf(x));
  PUT(9, __builtin_copysignf(x, y));
  PUT(10, (float)(int)x);
  PUT(11, (float)(u32)__builtin_fabsf(y));
  PUT(12, (float)(half)x);
  PUT(13, (float)((double)x * y));
  PUT(14, x < y ? x : y);
  PUT(15, __builtin_ldexpf(x, i - 32));
  PUT(16, (float)((i64)x * 1000003));
  PUT(17, __builtin_fmaf(x, y, 1.0f));
  PUT(18, x > y ? 1.0f : __builtin_isnan(x) ? 2.0f : 3.0f);
}

KERNEL k_f64(double *out, const double *a, const double *b) {
  int i = __builtin_amdgcn_workitem_id_x();
  double x = a[i], y = b[i];
  PUT(0, x + y);
  PUT(1, x - y);
  PUT(2, x * y);
  PUT(3, x / y);
  PUT(4, __builtin_sqrt(__builtin_fabs(x)));
  PUT(5, __builtin_floor(x));
  PUT(6, __builtin_rint(x));
  PUT(7, (double)(int)x);
  PUT(8, (double)(float)x);
  PUT(9, x < y ? x : y);
  PUT(10, __builtin_ldexp(x, i - 32));
  PUT(11, (double)(i64)(x * 1e6));
}

KERNEL k_f16(half *out, const half *a, const half *b) {
  int i = __builtin_amdgcn_workitem_id_x();
  half x = a[i], y = b[i];
  PUT(0, x + y);
  PUT(1, x - y);
  PUT(2, x * y);
  PUT(3, x / y);
  PUT(4, __builtin_floorf16(x));
  PUT(5, __builtin_rintf16(x));
  PUT(6, (half)(short)x);
  PUT(7, x < y ? x : y);
  PUT(8, (half)((float)x * (float)y + 1.0f));
}
