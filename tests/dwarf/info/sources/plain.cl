#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef struct { int a; float b; } Pair;

struct Link {
  struct Link *next;
  char c;
  Pair pairs[2];
  float3 f;
};

__constant int table[3] = {1, 2, 3};

float helper(__local float *l, __constant int *c, __private int *q)
{
  return l[0] + c[1] + *q;
}

__kernel void plain(__global float *x, __global struct Link *link, float4 v, int n)
{
  __local float tile[64];
  int i = __builtin_amdgcn_workitem_id_x();
  half h;
  enum Way { LEFT, RIGHT } way = n > 2 ? LEFT : RIGHT;

  tile[i] = v.x + n;
  int z = 3;
  x[i] = helper(tile, table, &z) + link->pairs[1].b;
  x[1] = way;
}
