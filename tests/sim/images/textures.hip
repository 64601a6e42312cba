// A kernel over a texture as HIP's headers write it: the object holds the image's descriptor and, behind it, the
// sampler's.

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define CONSTANT __attribute__((address_space(4)))

typedef float float4_ __attribute__((ext_vector_type(4)));
typedef float float2_ __attribute__((ext_vector_type(2)));

extern "C" __device__ float4_ __ockl_image_sample_2D(unsigned CONSTANT *image, unsigned CONSTANT *sampler, float2_ at);

__device__ float4_ tex2D(unsigned long long texture, float x, float y)
{
    unsigned CONSTANT *image = (unsigned CONSTANT *)texture;
    return __ockl_image_sample_2D(image, image + 12, float2_{x, y});
}

extern "C" __global__ void enlarge(unsigned long long texture, float4_ *out, int width, float scale)
{
    int i = __builtin_amdgcn_workitem_id_x() + 32 * __builtin_amdgcn_workgroup_id_x();
    out[i] = tex2D(texture, (i % width) * scale, (i / width) * scale);
}
