// Packed, half, double and integer arithmetic; divergence and a switch.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void halves(global half2 *y, global const half2 *x, half2 k) {
    size_t i = get_global_id(0);
    half2 v = x[i];
    y[i] = fma(v, k, (half2)(0.5h, -2.0h)) + (half2)(v.y, v.x) * (half)1.25h;
    y[i].x += sqrt(v.x) + (half)(short)i;
}

kernel void doubles(global double *y, global const double *x, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    double v = x[i], s = 1.0;
    for (int k = 0; k < (i & 7); ++k) s = s * v + 0.5 / (k + 1.0);
    y[i] = sqrt(s) + fabs(v) + (double)(long)v + 3.141592653589793;
}

kernel void integers(global ulong *y, global const uint *x, uint a) {
    size_t i = get_global_id(0);
    uint v = x[i];
    ulong w = (ulong)v * a + i;
    switch (v & 7) {
    case 0: w <<= v & 31; break;
    case 1: w = mul_hi(v, a); break;
    case 2: w = popcount(v) + clz(a); break;
    case 3: w = v / (a | 1); break;
    case 4: w = rotate(v, a) ^ (w >> 3); break;
    default: w += (char)v * (short)a;
    }
    y[i] = w;
}

kernel void floats(global float4 *y, global const float4 *x, float a) {
    size_t i = get_global_id(0);
    float4 v = x[i];
    y[i] = clamp(v * a - 1.0f, 0.0f, 1.0f) + native_exp(v) + floor(v) + rint(-v) + fmax(v, a);
    y[i].w = v.x > a ? sin(v.x) : (isnan(v.y) ? v.z / v.w : ldexp(v.w, 3));
}
