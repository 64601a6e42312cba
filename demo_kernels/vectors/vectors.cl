// OpenCL vector types, half precision and swizzles.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#include "../device.clh"

typedef struct {
    float4 position;
    half2 texture;
    uchar4 colour;
} Vertex;

kernel void vectors(global const float4 *input, global float4 *output, global half *halves, global Vertex *vertices)
{
    size_t i = get_global_id(0);
    float4 v = input[i];
    float4 flipped = v.wzyx;
    int4 rounded = (int4)(0);
    rounded.x = (int)v.x;
    rounded.yz = (int2)((int)v.y, (int)v.z);
    rounded.w = rounded.x + rounded.y;

    half h = (half)v.x;
    half2 pair = (half2)(h, (half)2.0f * h);
    halves[i] = pair.x + pair.y;

    Vertex vertex;
    vertex.position = v + flipped;
    vertex.texture = pair;
    vertex.colour = (uchar4)((uchar)rounded.x, (uchar)rounded.y, (uchar)rounded.z, (uchar)rounded.w);
    vertices[i] = vertex;

    output[i] = vertex.position * (float4)(1.0f, 0.5f, 0.25f, 2.0f);
}
