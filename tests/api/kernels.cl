// For the Python API: types in the metadata, a local pointer, an aggregate.
kernel void scale(global float *out, float factor, uchar add) {
  uint i = __builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x();
  out[i] = out[i] * factor + add;
}

kernel void twice(local int *first, global int *out, local int *second) {
  uint i = __builtin_amdgcn_workitem_id_x();
  first[i] = i;
  second[i] = i * 10;
  __builtin_amdgcn_s_barrier();
  out[i] = first[31 - i] + second[31 - i];
}

kernel void copy(global int *to, global const int *from) {
  uint i = __builtin_amdgcn_workitem_id_x();
  to[i] = from[i] + 1;
}
