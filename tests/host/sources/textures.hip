// HIP's arrays, textures and surfaces; every check has a computed expectation.
//   textures        prints a line for each function below
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        hipError_t status_ = (call);                                                      \
        if (status_ != hipSuccess) {                                                      \
            std::printf("[%s: %s] ", #call, hipGetErrorString(status_));                  \
            return false;                                                                 \
        }                                                                                 \
    } while (0)

constexpr int W = 21, H = 13, D = 3;

template <typename T>
__global__ void sampled(T *out, hipTextureObject_t texture, float step, float offset) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * W + x] = tex2D<T>(texture, x * step + offset, y * step + offset);
}
__global__ void fetched(int *out, hipTextureObject_t texture) { out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x); }
__global__ void solid(int *out, hipTextureObject_t texture, bool layered) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    out[(z * H + y) * W + x] = layered ? tex2DLayered<int>(texture, x, y, z) : tex3D<int>(texture, x, y, z);
}
__global__ void stored(hipSurfaceObject_t surface) {
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite<float>(x * 100 + y, surface, x * 4, y);
}

static std::vector<float> numbers() {
    std::vector<float> found(W * H);
    for (int i = 0; i < W * H; i++)
        found[i] = i * 0.5f + i % 7;
    return found;
}

struct Texture {
    hipTextureObject_t object = nullptr;
    hipTextureDesc how{};
    Texture(hipTextureFilterMode filter, hipTextureAddressMode outside, bool normalized = false,
            hipTextureReadMode mode = hipReadModeElementType) {
        how.filterMode = filter, how.readMode = mode, how.normalizedCoords = normalized;
        std::fill(how.addressMode, how.addressMode + 3, outside);
    }
    hipError_t of(const hipResourceDesc &what) { return hipCreateTextureObject(&object, &what, &how, nullptr); }
    hipError_t of(hipArray_t array) {
        hipResourceDesc what{};
        what.resType = hipResourceTypeArray, what.res.array.array = array;
        return of(what);
    }
    ~Texture() { (void)hipDestroyTextureObject(object); }
};

static bool read_through(Texture &texture, float step, float offset, std::vector<float> &out) {
    float *there;
    CHECK(hipMalloc(&there, W * H * 4));
    sampled<float><<<1, dim3(W, H)>>>(there, texture.object, step, offset);
    out.resize(W * H);
    CHECK(hipMemcpy(out.data(), there, W * H * 4, hipMemcpyDeviceToHost));
    return hipFree(there) == hipSuccess;
}

static bool array_of(hipArray_t *array, const std::vector<float> &in) {
    auto channels = hipCreateChannelDesc<float>();
    CHECK(hipMallocArray(array, &channels, W, H));
    CHECK(hipMemcpy2DToArray(*array, 0, 0, in.data(), W * 4, W * 4, H, hipMemcpyHostToDevice));
    return true;
}

static bool nearest() {
    std::vector<float> in = numbers(), out, back(W * H);
    hipArray_t array;
    if (!array_of(&array, in)) return false;
    Texture texture(hipFilterModePoint, hipAddressModeClamp);
    CHECK(texture.of(array));
    if (!read_through(texture, 1, 0, out)) return false;
    CHECK(hipMemcpy2DFromArray(back.data(), W * 4, array, 0, 0, W * 4, H, hipMemcpyDeviceToHost));
    CHECK(hipFreeArray(array));
    return out == in && back == in;
}

static bool linear() {
    std::vector<float> in = numbers(), out;
    hipArray_t array;
    if (!array_of(&array, in)) return false;
    Texture texture(hipFilterModeLinear, hipAddressModeClamp);
    CHECK(texture.of(array));
    if (!read_through(texture, 1, 0.75f, out)) return false;
    auto at = [&](int x, int y) { return in[std::min(y, H - 1) * W + std::min(x, W - 1)]; };
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float wanted = 0.5625f * at(x, y) + 0.1875f * (at(x + 1, y) + at(x, y + 1)) + 0.0625f * at(x + 1, y + 1);
            if (std::fabs(out[y * W + x] - wanted) > 1e-4f) return false;
        }
    return hipFreeArray(array) == hipSuccess;
}

static bool wrapped() {
    std::vector<float> in = numbers(), out;
    hipArray_t array;
    if (!array_of(&array, in)) return false;
    Texture texture(hipFilterModePoint, hipAddressModeWrap, true);
    CHECK(texture.of(array));
    if (!read_through(texture, 0.1f, -0.66f, out)) return false;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float u = x * 0.1f - 0.66f, v = y * 0.1f - 0.66f;
            u -= std::floor(u), v -= std::floor(v);
            if (out[y * W + x] != in[int(v * H) * W + int(u * W)]) return false;
        }
    return hipFreeArray(array) == hipSuccess;
}

static bool bytes_as_fractions() {
    std::vector<unsigned char> in(W * H * 4);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = i * 7;
    // HIP 5.2 takes the bytes of uchar4 for signed ones.
    auto channels = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
    hipArray_t array;
    CHECK(hipMallocArray(&array, &channels, W, H));
    CHECK(hipMemcpy2DToArray(array, 0, 0, in.data(), W * 4, W * 4, H, hipMemcpyHostToDevice));
    Texture texture(hipFilterModePoint, hipAddressModeClamp, false, hipReadModeNormalizedFloat);
    CHECK(texture.of(array));
    float4 *there;
    CHECK(hipMalloc(&there, W * H * 16));
    sampled<float4><<<1, dim3(W, H)>>>(there, texture.object, 1, 0);
    std::vector<float> out(W * H * 4);
    CHECK(hipMemcpy(out.data(), there, W * H * 16, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < in.size(); i++)
        if (std::fabs(out[i] - in[i] / 255.f) > 1e-6f) return false;
    return hipFree(there) == hipSuccess && hipFreeArray(array) == hipSuccess;
}

static bool linear_memory() {
    std::vector<int> in(100), out(100);
    int *source, *target;
    for (int i = 0; i < 100; i++)
        in[i] = i * i;
    CHECK(hipMalloc(&source, 400));
    CHECK(hipMalloc(&target, 400));
    CHECK(hipMemcpy(source, in.data(), 400, hipMemcpyHostToDevice));
    hipResourceDesc what{};
    what.resType = hipResourceTypeLinear, what.res.linear.devPtr = source, what.res.linear.sizeInBytes = 400;
    what.res.linear.desc = hipCreateChannelDesc<int>();
    Texture texture(hipFilterModePoint, hipAddressModeClamp);
    CHECK(texture.of(what));
    fetched<<<1, 100>>>(target, texture.object);
    CHECK(hipMemcpy(out.data(), target, 400, hipMemcpyDeviceToHost));
    return out == in && hipFree(source) == hipSuccess && hipFree(target) == hipSuccess;
}

static bool pitched_memory() {
    std::vector<float> in = numbers(), out;
    void *source;
    size_t pitch;
    CHECK(hipMallocPitch(&source, &pitch, W * 4, H));
    CHECK(hipMemcpy2D(source, pitch, in.data(), W * 4, W * 4, H, hipMemcpyHostToDevice));
    hipResourceDesc what{};
    what.resType = hipResourceTypePitch2D, what.res.pitch2D.devPtr = source, what.res.pitch2D.pitchInBytes = pitch;
    what.res.pitch2D.width = W, what.res.pitch2D.height = H, what.res.pitch2D.desc = hipCreateChannelDesc<float>();
    Texture texture(hipFilterModePoint, hipAddressModeClamp);
    CHECK(texture.of(what));
    return read_through(texture, 1, 0, out) && out == in && hipFree(source) == hipSuccess;
}

static bool planes(bool layered) {
    std::vector<int> in(W * H * D), out(in.size());
    for (size_t i = 0; i < in.size(); i++)
        in[i] = i * 3;
    auto channels = hipCreateChannelDesc<int>();
    hipArray_t array;
    CHECK(hipMalloc3DArray(&array, &channels, make_hipExtent(W, H, D), layered ? hipArrayLayered : hipArrayDefault));
    hipMemcpy3DParms copy{};
    copy.srcPtr = make_hipPitchedPtr(in.data(), W * 4, W, H);
    copy.dstArray = array, copy.extent = make_hipExtent(W, H, D), copy.kind = hipMemcpyHostToDevice;
    CHECK(hipMemcpy3D(&copy));
    Texture texture(hipFilterModePoint, hipAddressModeClamp);
    CHECK(texture.of(array));
    int *there;
    CHECK(hipMalloc(&there, in.size() * 4));
    solid<<<D, dim3(W, H)>>>(there, texture.object, layered);
    CHECK(hipMemcpy(out.data(), there, in.size() * 4, hipMemcpyDeviceToHost));
    return out == in && hipFree(there) == hipSuccess && hipFreeArray(array) == hipSuccess;
}
static bool volume() { return planes(false); }
static bool layers() { return planes(true); }

static bool surface() {
    auto channels = hipCreateChannelDesc<float>();
    hipArray_t array;
    CHECK(hipMallocArray(&array, &channels, W, H));
    hipResourceDesc what{};
    what.resType = hipResourceTypeArray, what.res.array.array = array;
    hipSurfaceObject_t object;
    CHECK(hipCreateSurfaceObject(&object, &what));
    stored<<<1, dim3(W, H)>>>(object);
    std::vector<float> out(W * H);
    CHECK(hipMemcpy2DFromArray(out.data(), W * 4, array, 0, 0, W * 4, H, hipMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (out[y * W + x] != x * 100 + y) return false;
    return hipDestroySurfaceObject(object) == hipSuccess && hipFreeArray(array) == hipSuccess;
}

int main() {
#define RUN(name) std::printf("%s: %s\n", #name, name() ? "ok" : "wrong")
    RUN(nearest);
    RUN(linear);
    RUN(wrapped);
    RUN(bytes_as_fractions);
    RUN(linear_memory);
    RUN(pitched_memory);
    RUN(volume);
    RUN(layers);
    RUN(surface);
}
