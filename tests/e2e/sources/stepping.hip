// Control flow that tests follow line by line. A function `lines(i)` of the test says where lane i goes.
#include "trace.h"

struct Vec { float x, y, z; };
struct Mixed { char c; short s; double d; };
typedef float float4 __attribute__((ext_vector_type(4)));
typedef _Float16 half;
typedef half half2 __attribute__((ext_vector_type(2)));

__device__ __noinline__ int give_int(int i) { return i * -3; }
__device__ __noinline__ unsigned char give_byte(int i) { return (unsigned char)(i + 200); }
__device__ __noinline__ short give_short(int i) { return (short)(-i); }
__device__ __noinline__ bool give_bool(int i) { return i % 3 == 1; }
__device__ __noinline__ long long give_long(int i) { return (long long)i << 40; }
__device__ __noinline__ float give_float(int i) { return i * 0.5f; }
__device__ __noinline__ double give_double(int i) { return i / 4.0; }
__device__ __noinline__ half give_half(int i) { return (half)(i * 0.25f); }
__device__ __noinline__ half2 give_half2(int i) { return half2{(half)i, (half)1}; }
__device__ __noinline__ float4 give_float4(int i) { return float4{(float)i, 1, 2, (float)-i}; }
__device__ __noinline__ Vec give_vec(int i) { return Vec{(float)i, 1.5f, (float)(2 * i)}; }
__device__ __noinline__ Mixed give_mixed(int i) { return Mixed{(char)(65 + i % 26), (short)-i, i * 2.0}; }
__device__ __noinline__ int *give_pointer(int *p, int i) { return p + i; }

extern "C" __global__ void returns(int *out)
{
    int i = ITEM;
    int sum = give_int(i);
    sum += give_byte(i);
    sum += give_short(i);
    sum += give_bool(i);
    sum += (int)give_long(i);
    sum += (int)give_float(i);
    sum += (int)give_double(i);
    sum += (int)give_half(i);
    sum += (int)give_half2(i).x;
    sum += (int)give_float4(i).w;
    sum += (int)give_vec(i).z;
    sum += (int)give_mixed(i).d;
    sum += *give_pointer(out, i);
    out[i] = sum;
}

__device__ __noinline__ int depth(int n)
{
    if (n <= 0)
        return 0;
    int below = depth(n - 1);
    return below + n;
}

extern "C" __global__ void walk(int *out, int n)
{
    __shared__ int tile[GROUP_SIZE];
    int i = ITEM;
    int acc = 0;
    if (i % 2 == 0) {
        acc = 10;
        if (i % 4 == 0)
            acc += 1;
        else
            acc += 2;
    } else {
        acc = 20;
    }
    tile[i] = acc;
    SYNC();
    for (int k = 0; k < i % 3; ++k) {
        acc += tile[k];
        if (acc > 40)
            break;
    }
    switch (i % 5) {
    case 0:
        acc += 100;
        break;
    case 3:
        acc += 300;
    case 4:
        acc += 400;
        break;
    default:
        acc += 1000;
    }
    int d = 0;
    if (i % 6 < 3) {
        d = depth(i % 3);
        acc += d;
    }
    while (acc % 7 != 0)
        ++acc;
    if (i % 8 == 7)
        return;
    out[i] = acc;
}
