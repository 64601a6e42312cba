/* OpenCL C: a texture walk with wide vectors, unions, and pointers to several address spaces. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef union { uint bits; uchar4 bytes; float f; } Texel;
typedef struct Walk { int2 at; float2 step; size_t count; Texel last; __global int *where; } Walk;
typedef enum Wrap { REPEAT = 1, MIRROR, CLAMPED = 8 } Wrap;
typedef float3 color;
__constant int offsets[2][3] = {{1, 2, 3}, {-1, -2, -3}};
__constant float4 palette[2] = {(float4)(0, 0.5f, 1, 1), (float4)(1, 0, 0.25f, 0.5f)};
__constant ulong big = 0xfedcba9876543210UL;
#define LUMA(c) ((c).x * 0.25f + (c).y * 0.5f + (c).z * 0.25f)

int wrap(int v, int size, Wrap mode) {
  switch (mode) {
  case REPEAT:
    return ((v % size) + size) % size;
  case MIRROR:
    return v < 0 ? -v : v;
  default:
    return v < 0 ? 0 : v >= size ? size - 1 : v;
  }
}

float shade(color c, float gain) {
  float l = LUMA(c);
  return l * gain;
}

Texel fetch(__global int *from, int at) {
  Texel t;
  t.bits = from[wrap(at, 16, REPEAT)] * 0x01010101;
  return t;
}

void advance(Walk *walk, int by) {
  walk->at += (int2)(by, -by);
  walk->step *= 2.0f;
  walk->count++;
  walk->last = fetch(walk->where, walk->at.x);
}

__kernel void kern(__global int *out, int n) {
  Walk walk = {(int2)(0, 8), (float2)(0.5f, 0.25f), 0, {0}, out};
  color c = palette[1].xyz;
  int3 triple = (int3)(n, -n, 0);
  char8 signs = (char8)(-1, 1, -2, 2, -3, 3, -4, 4);
  uint16 many = (uint16)(7);
  half h = 1.5h;
  long2 wide = (long2)(big, -1);
  bool flag = n > 3;
  Texel texels[4];
  for (int i = 0; i < 4; i++) {
    advance(&walk, i + 1);
    texels[i] = walk.last;
  }
  float s = shade(c, 4);
  many.s3 = texels[1].bits;
  int lanes_sum = triple.x + triple.y + signs.s4 + (int)many.sF;
  out[0] = (int)(s * 100) + lanes_sum;
  out[1] = walk.at.x + offsets[1][2] + flag + (int)h + (int)wide.y;
}
