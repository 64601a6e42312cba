// Functions that stay functions: a call chain three deep, recursion whose depth differs from
// lane to lane, and a call through a pointer.
#include "../device.h"

struct Range {
    int low;
    int high;
};

static __device__ __noinline__ int square(int x)
{
    int result = x * x;
    return result;
}

static __device__ __noinline__ int sum_of_squares(Range range)
{
    int total = 0;
    for (int k = range.low; k < range.high; ++k)
        total += square(k);
    return total;
}

static __device__ __noinline__ unsigned fibonacci(unsigned n)
{
    if (n < 2)
        return n;
    unsigned left = fibonacci(n - 1);
    unsigned right = fibonacci(n - 2);
    return left + right;
}

static __device__ __noinline__ int add(int a, int b) { return a + b; }
static __device__ __noinline__ int subtract(int a, int b) { return a - b; }

extern "C" __global__ void calls(int *output, int choice)
{
    int i = global_x();
    Range range = {i % 5, i % 5 + 4};
    int squares = sum_of_squares(range);
    int fib = fibonacci(i % 8);
    int (*combine)(int, int) = choice ? add : subtract;
    output[i] = combine(squares, fib);
}
