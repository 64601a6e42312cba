// The shapes of HIP's vector, half and bfloat16 types, without its headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

template <typename T, unsigned n> struct HIP_vector_base;
template <typename T> struct HIP_vector_base<T, 4> {
    typedef T Native __attribute__((ext_vector_type(4)));
    union {
        Native data;
        struct { T x, y, z, w; };
    };
};
template <typename T> struct HIP_vector_base<T, 2> {
    typedef T Native __attribute__((ext_vector_type(2)));
    union {
        Native data;
        struct { T x, y; };
    };
};
template <typename T, unsigned n> struct HIP_vector_type : public HIP_vector_base<T, n> { };
typedef HIP_vector_type<float, 4> float4;
typedef HIP_vector_type<unsigned char, 4> uchar4;
typedef HIP_vector_type<int, 2> int2;

struct __half { _Float16 data; };
struct __half2 { _Float16 data[2]; };
struct hip_bfloat16 { unsigned short data; };
struct Other { int a, b; };

extern "C" __global__ void kernel(float *out)
{
    int lane = __builtin_amdgcn_workitem_id_x();
    float4 f; f.x = lane + 0.5f; f.y = 2; f.z = 3; f.w = -4;
    uchar4 c; c.x = 1; c.y = 65; c.z = 255; c.w = 0;
    int2 i; i.x = -1; i.y = lane;
    __half h; h.data = (_Float16)1.5f;
    __half2 h2; h2.data[0] = (_Float16)0.5f; h2.data[1] = (_Float16)-2.0f;
    hip_bfloat16 b; b.data = 0x3fc0;
    Other other = {1, 2};
    out[lane] = f.x + c.x + i.y + (float)h.data + (float)h2.data[1] + b.data + other.a;
}
