__kernel void scale(__global float *out, __global const float * restrict in, float factor, __local float *tmp, read_only image2d_t img, sampler_t s) {
  size_t i = __builtin_amdgcn_workitem_id_x();
  tmp[i] = in[i]; 
  out[i] = tmp[i] * factor;
}
__kernel __attribute__((reqd_work_group_size(64,1,1))) void fixed(__global int *out, int c) { out[c] = c; }
