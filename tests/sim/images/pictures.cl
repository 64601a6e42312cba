// Kernels over images, for test_compiled.py and the debugger's tests.

constant sampler_t wrapping = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;

kernel void halve(read_only image2d_t source, write_only image2d_t target)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 colour = read_imagef(source, at);
    write_imagef(target, at, colour * 0.5f);
}

kernel void resample(read_only image2d_t source, sampler_t given, global float4 *out, float step)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 at = (float2)(x * step - 0.25f, y * step * 0.5f);
    out[y * get_global_size(0) + x] = read_imagef(source, given, at) + read_imagef(source, wrapping, at);
}

kernel void count(read_write image2d_array_t cells, global int *size)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imageui(cells, at, read_imageui(cells, at) + (uint4)(1, 2, 3, 4));
    if (at.x == 0 && at.y == 0 && at.z == 0) {
        size[0] = get_image_width(cells);
        size[1] = get_image_height(cells);
        size[2] = get_image_array_size(cells);
        size[3] = get_image_channel_order(cells);
        size[4] = get_image_channel_data_type(cells);
    }
}

kernel void solid(read_only image3d_t source, sampler_t given, global float4 *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(source, given, (float4)(i * 0.11f, i * 0.07f, i * 0.05f, 0.0f));
}

kernel void columns(read_only image2d_t source, write_only image1d_t target)
{
    int x = get_global_id(0);
    float sum = 0.0f;
    for (int y = 0; y < get_image_height(source); y++)
        sum += read_imagef(source, (int2)(x, y)).x;
    write_imagef(target, x, (float4)(sum, 0.0f, 0.0f, 0.0f));
}

kernel void table(read_only image1d_buffer_t source, global float4 *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(source, i * 2) + (float4)(0.0f, 0.0f, 0.0f, get_image_width(source));
}

#pragma OPENCL EXTENSION cl_khr_mipmap_image : enable

kernel void level(read_only image2d_t source, sampler_t given, global float *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(source, given, (float2)(1.0f, 1.0f), (float)i).x;
}
