/* OpenCL C: vectors, swizzles and structures of them. */
typedef struct { float4 position; float3 speed; int id; char tag[4]; } Particle;
typedef union { uint bits; float number; uchar4 bytes; } Pun;
typedef enum { IDLE, BUSY = 4, DONE } State;
__constant int table[4] = {10, 20, 30, 40};
__constant float weights[2][2] = {{0.25f, 0.5f}, {0.75f, 1.0f}};

int helper(int v, int2 p) {
  int r = v + p.x * p.y;
  return r;
}

float length2(float4 v) {
  float4 s = v * v;
  return s.x + s.y + s.z + s.w;
}

int8 spread(int v) { return (int8)(v); }

__kernel void kern(__global int *out, int n) {
  float4 v = (float4)(1.0f, 2.0f, 3.0f, 4.0f);
  float4 w = v.wzyx;
  int2 p = (int2)(5, 6);
  int4 q = (int4)(1, -2, 3, -4);
  uchar16 bytes = (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255);
  char4 letters = (char4)('a', 'b', 'c', 'd');
  short8 shorts = (short8)(1, 2, 3, 4, 5, 6, 7, 8);
  double2 d = (double2)(0.5, -1.5);
  float3 triple = (float3)(7.0f, 8.0f, 9.0f);
  long2 wide = (long2)(1L << 40, -1);
  ulong big = 0xffffffffffffffffUL;
  uint u = 7;
  uchar c = 200;
  half *nohalf = 0;
  Particle particle = {v, triple, 3, {'a', 'b', 'c', 0}};
  Particle many[2] = {particle, particle};
  Pun pun;
  pun.number = 1.5f;
  State state = BUSY;
  __private int *pointer = &n;
  int4 mask = q > (int4)(0);
  float4 rows[2] = {v, w};
  bool yes = true;
  float f = length2(v);
  int total = helper(n, p) + table[1] + (int)weights[1][0];
  int8 spreaded = spread(total);
  out[0] = total + (int)f + q.y + bytes.sf + letters.x + shorts.s7 + (int)d.x + spreaded.s3;
}
