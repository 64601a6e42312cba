// What compilers make of the language: each kernel is one function of a work-item's number that reads `in` and writes
// its own row of `out`. The same text is compiled for the host, whose results are the expected ones.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef _Float16 half;

#define ROW 16
#ifdef __AMDGCN__
#define DEVICE __attribute__((device))
#define CONSTANT __attribute__((constant))
#define KERNEL(name)                                                                             \
  static DEVICE __attribute__((always_inline)) void name##_item(u32 i, u32 *o, const u32 *in);   \
  extern "C" __attribute__((global)) void name(u32 *out, const u32 *in) {                        \
    u32 i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();           \
    name##_item(i, out + i * ROW, in);                                                           \
  }                                                                                              \
  static DEVICE void name##_item(u32 i, u32 *o, const u32 *in)
#else
#define DEVICE
#define CONSTANT const
// Not in every host's compiler library: rounding to bf16, ties to even (from f64 through round-to-odd f32).
extern "C" __bf16 __truncsfbf2(float f) {
  u32 bits = __builtin_bit_cast(u32, f);
  bits = f != f ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  return __builtin_bit_cast(__bf16, (u16)(bits >> 16));
}
extern "C" __bf16 __truncdfbf2(double d) {
  float f = (float)d;
  u32 bits = __builtin_bit_cast(u32, f);
  if ((double)f != d && !(bits & 1)) bits += __builtin_fabs((double)f) > __builtin_fabs(d) ? -1 : 1;
  return __truncsfbf2(__builtin_bit_cast(float, bits));
}
#define KERNEL(name)                                                                             \
  static void name##_item(u32 i, u32 *o, const u32 *in);                                         \
  extern "C" void name(u32 *out, const u32 *in, u32 count) {                                     \
    for (u32 i = 0; i < count; i++) name##_item(i, out + i * ROW, in);                           \
  }                                                                                              \
  static void name##_item(u32 i, u32 *o, const u32 *in)
#endif
#define NOINLINE __attribute__((noinline)) DEVICE

extern "C" DEVICE void __cxa_pure_virtual() { __builtin_trap(); }

static DEVICE u32 fbits(float f) { return __builtin_bit_cast(u32, f); }
static DEVICE float tofloat(u32 v) { return (float)(i32)v * 0.001f; }
static DEVICE double todouble(u32 v, u32 w) { return (double)(i64)((u64)v << 32 | w) * 1e-9; }
static DEVICE void put64(u32 *o, u64 v) { o[0] = (u32)v; o[1] = (u32)(v >> 32); }
static DEVICE void putd(u32 *o, double v) { put64(o, __builtin_bit_cast(u64, v)); }

// -- private memory --------------------------------------------------------------------------------------------------

KERNEL(local_array) {
  u32 a[16], b[7];
  for (u32 k = 0; k < 16; k++) a[k] = in[(i + k) & 255] ^ k;
  for (u32 k = 0; k < 7; k++) b[k] = a[(k * 5 + i) & 15];
  u32 at = in[i & 255] & 15;
  a[at] += 1000;
  a[b[i % 7] & 15] ^= 77;
  for (u32 k = 0; k < 16; k++) o[k] = a[k] + b[(k + at) % 7];
}

KERNEL(small_vector_index) {
  typedef u32 v4 __attribute__((ext_vector_type(4)));
  typedef float f8 __attribute__((ext_vector_type(8)));
  typedef double d4 __attribute__((ext_vector_type(4)));
  v4 v = {in[i & 255], in[(i + 1) & 255], i, 7};
  f8 f = {1, 2, 3, 4, 5, 6, 7, (float)i};
  d4 d = {1, 2, (double)i, 4};
  u32 at = in[(i + 9) & 255];
  v[at & 3] = 5;
  f[at & 7] = 0.5f;
  d[at & 3] = 0.25;
  for (u32 k = 0; k < 4; k++) o[k] = v[(k + at) & 3];
  for (u32 k = 0; k < 8; k++) o[4 + k] = fbits(f[(k ^ at) & 7]);
  putd(o + 12, d[(at >> 3) & 3]);
  o[14] = v[in[0] & 3];
  o[15] = fbits(f[in[1] & 7]);
}

KERNEL(uniform_index) {
  // The same index in all lanes: register indexing by M0, or s_movrel.
  u32 a[32];
  for (u32 k = 0; k < 32; k++) a[k] = in[(k * 3 + i) & 255];
  for (u32 k = 0; k < 8; k++) {
    u32 at = in[k] & 31;
    a[at] = a[at] * 3 + a[(at + k) & 31];
  }
  for (u32 k = 0; k < 16; k++) o[k] = a[k] + a[31 - k];
}

struct __attribute__((packed)) Odd { u8 a; u32 b; u16 c; u64 d; u8 e; };
KERNEL(unaligned) {
  Odd x[4];
  u8 *raw = (u8 *)x;
  for (u32 k = 0; k < sizeof x; k++) raw[k] = (u8)(in[(i + k) & 255] >> (k & 15));
  x[i & 3].b += 5;
  x[(i + 1) & 3].d *= 3;
  for (u32 k = 0; k < 4; k++) {
    o[k * 3] = x[k].a + x[k].e;
    o[k * 3 + 1] = x[k].b ^ x[k].c;
    o[k * 3 + 2] = (u32)(x[k].d >> 7);
  }
}

NOINLINE u32 sum_of(const u32 *p, u32 n) {
  u32 s = 0;
  for (u32 k = 0; k < n; k++) s = s * 31 + p[k];
  return s;
}
KERNEL(variable_length) {
  u32 n = (in[i & 255] & 7) + 1, m = (i & 7) + 1;
  u32 a[n], b[m];
  for (u32 k = 0; k < n; k++) a[k] = k * i;
  for (u32 k = 0; k < m; k++) b[k] = k + 100;
  u32 *c = (u32 *)__builtin_alloca(m * 8);
  for (u32 k = 0; k < m * 2; k++) c[k] = k ^ i;
  o[0] = sum_of(a, n);
  o[1] = sum_of(b, m);
  o[2] = sum_of(c, m * 2);
}

// -- calls -----------------------------------------------------------------------------------------------------------

struct Big { u32 a[20]; double d; u16 s; half h; };
NOINLINE Big change(Big b, u32 by) {
  for (u32 k = 0; k < 20; k++) b.a[k] += by * k;
  b.d *= 1.5;
  b.s += 3;
  b.h = b.h + (half)1;
  return b;
}
KERNEL(big_struct) {
  Big b;
  for (u32 k = 0; k < 20; k++) b.a[k] = in[(i + k) & 255];
  b.d = i, b.s = (u16)i, b.h = (half)(i & 63);
  b = change(change(b, i), 7);
  for (u32 k = 0; k < 10; k++) o[k] = b.a[2 * k] ^ b.a[2 * k + 1];
  putd(o + 10, b.d);
  o[12] = b.s;
  o[13] = fbits((float)b.h);
}

NOINLINE u32 many(u32 a, u64 b, float c, double d, u8 e, u32 f, u32 g, u32 h, u64 j, u32 k, u32 l, u32 m, u32 n, u64 p,
                  u64 q, u64 r, u32 s, u32 t, float u, double v) {
  return a + (u32)b * 3 + (u32)c * 5 + (u32)d * 7 + e * 11 + f * 13 + g * 17 + h * 19 + (u32)j * 23 + k * 29 + l * 31 +
         m * 37 + n * 41 + (u32)(p >> 5) * 43 + (u32)q * 47 + (u32)r * 53 + s * 59 + t * 61 + (u32)u * 67 + (u32)v * 71;
}
KERNEL(many_arguments) {
  const u32 *p = in + (i & 127);
  o[0] = many(p[0], p[1], (float)(p[2] & 1023), (double)(p[3] & 65535), (u8)p[4], p[5], p[6], p[7], p[8], p[9], p[10],
              p[11], p[12], (u64)p[13] << 4, p[14], p[15], p[16], p[17], (float)(p[18] & 255), (double)(p[19] & 255));
}

NOINLINE u32 ackermann(u32 m, u32 n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL(recursion) { o[0] = ackermann(i % 3, i & 3); }

NOINLINE u32 is_odd(u32 n);
NOINLINE u32 is_even(u32 n) { return n == 0 ? 1 : is_odd(n - 1); }
NOINLINE u32 is_odd(u32 n) { return n == 0 ? 0 : is_even(n - 1); }
KERNEL(mutual_recursion) { o[0] = is_even(in[i & 255] & 15); }

NOINLINE u32 f_add(u32 a, u32 b) { return a + b; }
NOINLINE u32 f_mul(u32 a, u32 b) { return a * b; }
NOINLINE u32 f_mix(u32 a, u32 b) { return (a << 3) ^ f_mul(b, 5); }
NOINLINE u32 f_deep(u32 a, u32 b) { return a ? f_deep(a >> 4, b + 1) + 1 : f_mix(b, a); }
typedef u32 (*Binary)(u32, u32);
KERNEL(function_pointers) {
  Binary table[4] = {f_add, f_mul, f_mix, f_deep};
  Binary f = table[in[i & 255] & 3];
  o[0] = f(i, in[(i + 1) & 255]);
  f = table[i >> 6 & 3];
  o[1] = f(in[i & 255] & 255, 3);
}

struct Shape {
  DEVICE virtual u32 area() const = 0;
  DEVICE virtual u32 grow(u32 n) { return area() + n; }
};
struct Square : Shape {
  u32 side;
  DEVICE Square(u32 s) : side(s) {}
  DEVICE u32 area() const override { return side * side; }
};
struct Rectangle : Square {
  u32 other;
  DEVICE Rectangle(u32 a, u32 b) : Square(a), other(b) {}
  DEVICE u32 area() const override { return side * other; }
  DEVICE u32 grow(u32 n) override { return area() * n; }
};
NOINLINE u32 measure(Shape *s, u32 n) { return s->grow(n) ^ s->area(); }
KERNEL(virtual_functions) {
  Square s(i);
  Rectangle r(i, in[i & 255] & 63);
  Shape *which = in[(i + 3) & 255] & 1 ? (Shape *)&s : &r;
  o[0] = measure(which, i + 1);
}

// -- control ---------------------------------------------------------------------------------------------------------

KERNEL(switch_table) {
  u32 v = in[i & 255], r = 0;
  for (u32 k = 0; k < 4; k++, v >>= 5) switch (v & 31) {
    case 0: r += 3; break;
    case 1: r ^= 0x55; break;
    case 2: r *= 7;
    case 3: r -= i; break;
    case 4: r = r << 3 | r >> 29; break;
    case 5: continue;
    case 6: r = ~r; break;
    case 7: r += v; break;
    case 8: case 9: case 10: r += 12; break;
    case 20: r /= 3; break;
    case 21: r %= 1000; break;
    case 22: goto out;
    default: r += 1;
    }
out:
  o[0] = r;
  switch ((u64)in[(i + 1) & 255] << 20) {
    case 0x100000: o[1] = 1; break;
    case 0xffffffull << 20: o[1] = 2; break;
    default: o[1] = 3;
  }
}
static CONSTANT u16 lookup[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static CONSTANT double doubles[5] = {0.5, 1.25, -3, 1e10, 2};
KERNEL(constant_tables) {
  u32 v = in[i & 255];
  o[0] = lookup[v & 15] * lookup[i & 15];
  putd(o + 2, doubles[v % 5] + doubles[i % 5]);
  o[4] = "rocdbg"[v % 6];
}
KERNEL(loops) {
  u32 n = in[i & 255] & 63, s = 0, steps = 0;
  for (u32 a = 0; a < n; a++) {
    if (a == 40) break;
    for (u32 b = a; b; b &= b - 1) {
      if ((a ^ b) == 5) continue;
      s += a * b;
      if (s > 5000) goto next;
    }
    s ^= 1;
  next:;
  }
  u32 c = i + 1;
  do { c = c & 1 ? 3 * c + 1 : c >> 1; steps++; } while (c != 1 && steps < 150);
  o[0] = s, o[1] = c, o[2] = steps;
}

// -- integers --------------------------------------------------------------------------------------------------------

KERNEL(wide_integers) {
  u64 a = (u64)in[i & 255] << 32 | in[(i + 1) & 255], b = (u64)in[(i + 2) & 255] << 13 | 1;
  i64 sa = (i64)a, sb = (i64)(b ^ (u64)in[(i + 3) & 255] << 32);
  u128 x = (u128)a * b;
  i128 y = (i128)sa * sb;
  u32 n = in[(i + 4) & 255];
  put64(o, (u64)(x >> 64));
  put64(o + 2, (u64)(y >> (n & 127)));
  put64(o + 4, (u64)(x << (n & 63) >> 70));
  put64(o + 6, a / b + a % b);
  put64(o + 8, (u64)(sa / sb));
  put64(o + 10, (u64)(x / (b | (u128)n << 65)));
  put64(o + 12, (u64)((x + (u128)y) >> 33) - (x < (u128)y));
  put64(o + 14, __builtin_rotateleft64(a, n & 63) ^ b);
}
KERNEL(bits) {
  u32 a = in[i & 255], b = in[(i + 7) & 255];
  u64 w = (u64)a << 32 | b;
  i32 r;
  o[0] = __builtin_popcount(a) + __builtin_popcountll(w);
  o[1] = __builtin_clz(a | 1) + __builtin_clzll(w | 1);
  o[2] = __builtin_ctz(a | 1 << 31) + __builtin_ctzll(w | 1ull << 63);
  o[3] = __builtin_bitreverse32(a) ^ (u32)__builtin_bitreverse64(w);
  o[4] = (u32)__builtin_add_overflow((i32)a, (i32)b, &r) + (u32)r;
  o[5] = (u32)__builtin_mul_overflow((i32)a, (i32)(b >> 16), &r) + (u32)r;
  o[6] = (u32)__builtin_sub_overflow((i32)a, (i32)b, &r) + (u32)r;
  o[7] = (u16)(a * b) + (u32)(i32)(short)(a - b);
  o[8] = (u32)((signed char)a / (signed char)(b | 1)) + (u8)a % (u8)(b | 1);
  o[9] = (a >> 5 & 0x7f) | (u32)((i32)b << 9 >> 20);
  o[10] = __builtin_rotateright32(a, b & 31) + __builtin_bitreverse8((u8)a) + __builtin_bitreverse16((u16)b);
  o[11] = (u16)(a >> 3) > (u16)b ? (u16)a * (u16)b : __builtin_bswap16((u16)a);
  o[12] = a > b ? a - b : b - a;
  o[13] = (a & b) ^ (a | ~b) ^ (~a & b);
  o[14] = (i32)a < (i32)b ? (u32)((i32)a >> (b & 31)) : a << (b & 31);
  o[15] = (u32)((u64)a * b >> 32) + (u32)((i64)(i32)a * (i32)b >> 32);
}
struct Fields { u32 a : 3, b : 11; int c : 7; u64 d : 35; u32 e : 1; };
KERNEL(bit_fields) {
  Fields f = {};
  f.a = in[i & 255], f.b = in[(i + 1) & 255], f.c = (int)in[(i + 2) & 255], f.d = (u64)in[(i + 3) & 255] << 6;
  f.e = i;
  f.c -= 9, f.d += f.b;
  o[0] = f.a, o[1] = f.b, o[2] = (u32)f.c, o[5] = f.e;
  put64(o + 3, f.d);
}

// -- floating point --------------------------------------------------------------------------------------------------

KERNEL(floats) {
  float a = tofloat(in[i & 255]), b = tofloat(in[(i + 3) & 255]), c = (float)i + 0.5f;
  o[0] = fbits(a * b + c);
  o[1] = fbits(a / b);
  o[2] = fbits(__builtin_sqrtf(a < 0 ? -a : a));
  o[3] = fbits(__builtin_fmaf(a, b, -c));
  o[4] = fbits(__builtin_floorf(a) + __builtin_ceilf(b));
  o[5] = fbits(__builtin_truncf(a) - __builtin_rintf(b));
  o[6] = fbits(a < b ? a : __builtin_fabsf(b));
  o[7] = (u32)(i32)a;
  o[8] = (u32)(c * 1000.0f);
  put64(o + 9, (u64)(i64)(a * 4096.0f));
  o[11] = fbits((float)(u64)in[i & 255] * 3.0f + (float)((i64)in[i & 255] << 20));
  o[12] = fbits(__builtin_copysignf(b, a));
  o[13] = fbits(1.0f / (c * 1e38f)) + fbits(a * 1e-42f);
  o[14] = fbits(__builtin_fminf(a, b) + __builtin_fmaxf(b, c));
  o[15] = (u32)(a == b) + 2 * (a != a) + 4 * !(a < b) + 8 * __builtin_isless(b, c) + 16 * __builtin_isinf(c * 1e38f);
}
KERNEL(doubles_) {
  double a = todouble(in[i & 255], in[(i + 1) & 255]), b = todouble(in[(i + 5) & 255] >> 8, i), c = (double)i;
  putd(o, a * b + c);
  putd(o + 2, a / b);
  putd(o + 4, __builtin_sqrt(a < 0 ? -a : a));
  putd(o + 6, __builtin_fma(a, b, c));
  putd(o + 8, __builtin_floor(a * 1e3) - __builtin_trunc(b));
  o[10] = (u32)(i32)(b * 0.1), o[11] = fbits((float)a);
  put64(o + 12, (u64)(i64)(a * 0.1) + (u64)(b < 0 ? -b : b));
  putd(o + 14, (double)(float)b * 1e-310 + (double)(u64)((u64)in[i & 255] << 33 | 1) + __builtin_fmin(a, b));
}
KERNEL(halves) {
  half a = (half)((float)(i32)(in[i & 255] & 0xfffff) * 0.01f), b = (half)((float)(i & 63) * 0.37f + 0.01f);
  half h = a + b;
  o[0] = fbits((float)h);
  h = a * b - b;
  o[1] = fbits((float)h);
  h = a / b;
  o[2] = fbits((float)h);
  o[3] = (u32)(i32)a + (u32)(b * (half)3);
  o[4] = fbits((float)(half)(float)(i32)(in[(i + 1) & 255] >> 14)) ^ (u32)(a < b);
  typedef half h4 __attribute__((ext_vector_type(4)));
  h4 v = {a, b, (half)1, (half)i}, w = {b, (half)0.5f, a, b};
  v = v * w + w;
  w = __builtin_elementwise_max(v, w) - __builtin_elementwise_abs(w - v);
  for (u32 k = 0; k < 4; k++) o[5 + k] = fbits((float)v[k]), o[9 + k] = fbits((float)w[k]);
  o[13] = fbits((float)(half)((double)(i32)in[i & 255] * 1e-5));
}
KERNEL(brain_floats) {
  __bf16 a = (__bf16)tofloat(in[i & 255]), b = (__bf16)((float)i * 0.3f);
  __bf16 c = a + b;
  o[0] = fbits((float)c);
  c = a * b;
  o[1] = fbits((float)c);
  c = a / (b + (__bf16)1);
  o[2] = fbits((float)c);
  o[3] = (u32)(i32)(float)a + (a < b);
  o[4] = __builtin_bit_cast(u16, (__bf16)(double)((i32)in[(i + 2) & 255]));
}

// -- memory ----------------------------------------------------------------------------------------------------------

KERNEL(block_moves) {
  struct Chunk { u8 b[61]; } x, y;
  for (u32 k = 0; k < 61; k++) x.b[k] = (u8)(in[(i + k) & 255]);
  __builtin_memcpy(&y, &x, sizeof y);
  __builtin_memset(x.b + 7, (int)i, 30);
  __builtin_memmove(y.b + 3, y.b, 50);
  for (u32 k = 0; k < 15; k++) o[k] = x.b[k * 4] | y.b[k * 4 + 1] << 8 | x.b[k * 4 + 1] << 16 | (u32)y.b[k * 4] << 24;
}
KERNEL(sub_dword_stores) {
  u8 *p = (u8 *)o;
  u16 *q = (u16 *)(o + 4);
  for (u32 k = 0; k < 13; k++) p[k] = (u8)(in[(i + k) & 255] >> 3);
  for (u32 k = 0; k < 11; k++) q[k] = (u16)(in[(i + k) & 255] >> 2);
  for (u32 k = 0; k < 5; k++) o[10 + k] = (u32)(signed char)p[k] + (u32)(short)q[k];
  *(u64 __attribute__((aligned(1))) *)(p + 56) = (u64)in[i & 255] * 0x123456789ull & 0xffffffffffffull;
}
