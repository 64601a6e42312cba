// Vectors of all kinds, swizzles, half, address spaces, structs and unions with vectors.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef float3 position_t;
typedef struct {
  position_t where;
  float4 velocity;
  char2 spin;
  half weight;
  uchar4 colour;
} particle_t;

typedef union {
  uint4 words;
  ushort8 shorts;
  uchar16 bytes;
  float4 floats;
} lanes_t;

enum phase { SOLID, LIQUID = 3, GAS };

constant int weights[5] = {1, 4, 6, 4, 1};
constant float4 corner = (float4)(1.0f, -2.0f, 0.5f, 8.0f);
constant char title[] = "plasma";
constant enum phase phases[2] = {GAS, SOLID};
constant int2 offsets[3] = {(int2)(0, 1), (int2)(-1, 2), (int2)(3, -3)};

int dot2(int2 a, int2 b) {
  return a.x * b.x + a.y * b.y;
}

float4 blend(float4 a, float4 b, float by) {
  float4 mixed = a * (1.0f - by) + b * by;
  return mixed; // blend
}

half2 shrink(float2 v) {
  half2 small = (half2)((half)v.x, (half)v.y);
  return small;
}

int gather(global const int *from, local int *tile, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    tile[i] = from[i] * 2;
    sum += tile[i];
  }
  return sum; // gather
}

kernel void kern(global int *out, int n) {
  local int tile[8];
  private int scratch[4] = {9, 8, 7, 6};
  char2 c2 = (char2)('a', -1);
  uchar4 uc4 = (uchar4)(0, 127, 128, 255);
  short3 s3 = (short3)(-1, 0, 300);
  ushort8 us8 = (ushort8)(0, 1, 2, 3, 4, 5, 6, 65535);
  int4 i4 = (int4)(1, -2, 3, -4);
  uint2 u2 = (uint2)(7u, 4000000000u);
  long2 l2 = (long2)(1L << 40, -9L);
  ulong4 ul4 = (ulong4)(1ul);
  float2 f2 = (float2)(0.5f, -1.25f);
  float3 f3 = (float3)(1.0f, 2.0f, 3.0f);
  float4 f4 = (float4)(f2, 4.0f, 8.0f);
  double2 d2 = (double2)(0.1, 1e100);
  int8 i8 = (int8)(i4, i4 * 2);
  float16 f16 = (float16)(1.5f);
  half h = (half)1.5f;
  half4 h4 = (half4)((half)0.1f, (half)-2.0f, (half)1024.0f, (half)0.0f);
  bool flag = n > 3;
  size_t size = sizeof(particle_t);
  particle_t one = {f3, f4, c2, h, uc4};
  particle_t many[2] = {one, one};
  lanes_t lanes;
  lanes.words = (uint4)(0x41424344, 0x3f800000, 0, 0xffffffff);
  enum phase phase = LIQUID;
  int4 less = i4 < (int4)(0);
  int4 grid[2][2] = {{i4, i4 + 1}, {i4 - 1, -i4}};
  global int *cursor = out + 2;
  local int *shared = tile + 1;
  private int *mine = scratch + 1;
  constant int *fixed = weights + 2;
  private float4 *pv = &f4;
  many[1].velocity.xy = f2.yx;
  many[1].where.z = 9.0f;
  int total = gather(out, tile, 8);
  float4 mixed = blend(f4, corner, 0.25f);
  half2 small = shrink(f2);
  i8.s07 = (int2)(70, 77);
  f16.hi = (float8)(2.0f);
  out[0] = total + dot2(offsets[1], offsets[2]) + (int)mixed.x + *fixed + *mine + *shared + *cursor; // done
  out[1] = (int)small.x + i8.s7 + (int)f16.sf + (int)flag + (int)size + less.x + title[0] + phases[0];
}
