// A whole HIP program: y = a * x + y on the GPU, checked on the host.
//
// Built with Debian's packages (README.md) and run by `rocdbg run ./saxpy 1000`.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                  \
        if (status != hipSuccess) {                                                  \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status));      \
            std::exit(2);                                                            \
        }                                                                            \
    } while (0)

__global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 1000, launches = argc > 2 ? std::atoi(argv[2]) : 1;
    std::vector<float> x(n), y(n, 0.5f);
    for (int i = 0; i < n; i++)
        x[i] = i;
    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    float *dx, *dy;
    CHECK(hipMalloc(&dx, n * sizeof(float)));
    CHECK(hipMalloc(&dy, n * sizeof(float)));
    CHECK(hipMemcpy(dx, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dy, y.data(), n * sizeof(float), hipMemcpyHostToDevice));
    for (int launch = 0; launch < launches; launch++)
        saxpy<<<(n + 255) / 256, 256>>>(2.0f, dx, dy, n);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(y.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost));
    CHECK(hipFree(dx));
    CHECK(hipFree(dy));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += y[i] != 0.5f + 2.0f * launches * i;
    std::printf("%s: %d of %d wrong\n", properties.gcnArchName, wrong, n);
    return wrong != 0;
}
