// What HIP programs use of the runtime, a function for each; every check has a computed expectation.
//   features [NAME...]
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        hipError_t status_ = (call);                                                      \
        if (status_ != hipSuccess) {                                                      \
            std::printf("[%s: %s] ", #call, hipGetErrorString(status_));                  \
            return false;                                                                 \
        }                                                                                 \
    } while (0)
#define EXPECT(condition)                                                                 \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            std::printf("[%s] ", #condition);                                             \
            return false;                                                                 \
        }                                                                                 \
    } while (0)

constexpr int N = 1000;

__global__ void add(int *data, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += value;
}
__global__ void scale(int *data, int n, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= factor;
}
__device__ int global_value = 7;
__constant__ int constants[4];
__global__ void globals(int *out) {
    int i = threadIdx.x;
    out[i] = constants[i] + atomicAdd(&global_value, 1) * 0 + global_value * 0;
}
__global__ void spin(volatile int *flag, int *seen) {
    while (*flag == 0)
        ;
    *seen = *flag;
}
__global__ void raise(int *flag, int value) { atomicExch(flag, value); }
__global__ void shared_sum(const int *in, int *out) {
    extern __shared__ int room[];
    int i = threadIdx.x;
    room[i] = in[i];
    __syncthreads();
    for (int step = blockDim.x / 2; step; step /= 2) {
        if (i < step)
            room[i] += room[i + step];
        __syncthreads();
    }
    if (!i)
        *out = room[0];
}
__global__ void box(int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    out[(z * height + y) * width + x] = z * 10000 + y * 100 + x;
}
__global__ void beyond(int *data, int index) { data[index] = 1; }

struct Buffer {
    int *data = nullptr;
    explicit Buffer(int n = N) {
        if (hipMalloc(&data, n * sizeof(int)) != hipSuccess)
            data = nullptr;
        else
            (void)hipMemset(data, 0, n * sizeof(int));
    }
    ~Buffer() { (void)hipFree(data); }
};
static bool all(const int *device, int n, int value) {
    std::vector<int> host(n);
    CHECK(hipMemcpy(host.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int x : host)
        EXPECT(x == value);
    return true;
}
static int blocks(int n) { return (n + 255) / 256; }

static bool properties() {
    int count = 0, value = 0;
    CHECK(hipGetDeviceCount(&count));
    EXPECT(count == 1);
    hipDeviceProp_t p;
    CHECK(hipGetDeviceProperties(&p, 0));
    EXPECT(p.warpSize == 64 && p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536);
    CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
    EXPECT(value == 4);
    return true;
}
static bool streams() {
    Buffer a, b, c;
    hipStream_t s[3];
    for (auto &stream : s)
        CHECK(hipStreamCreate(&stream));
    int *buffers[] = {a.data, b.data, c.data};
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 3; i++)
            add<<<blocks(N), 256, 0, s[i]>>>(buffers[i], N, i + 1);
    for (auto &stream : s)
        CHECK(hipStreamSynchronize(stream));
    for (int i = 0; i < 3; i++)
        EXPECT(all(buffers[i], N, 3 * (i + 1)));
    for (auto &stream : s)
        CHECK(hipStreamDestroy(stream));
    return true;
}
static bool events_between_streams() {
    Buffer a;
    hipStream_t first, second;
    hipEvent_t event;
    CHECK(hipStreamCreate(&first));
    CHECK(hipStreamCreate(&second));
    CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    add<<<blocks(N), 256, 0, first>>>(a.data, N, 5);
    CHECK(hipEventRecord(event, first));
    CHECK(hipStreamWaitEvent(second, event, 0));
    scale<<<blocks(N), 256, 0, second>>>(a.data, N, 3);
    CHECK(hipStreamSynchronize(second));
    return all(a.data, N, 15);
}
static bool event_times() {
    Buffer a;
    hipEvent_t start, stop;
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));
    CHECK(hipEventRecord(start));
    add<<<blocks(N), 256>>>(a.data, N, 1);
    CHECK(hipEventRecord(stop));
    CHECK(hipEventSynchronize(stop));
    float time = -1;
    CHECK(hipEventElapsedTime(&time, start, stop));
    EXPECT(time > 0 && time < 60000);
    return true;
}
static void called(hipStream_t, hipError_t, void *data) { *static_cast<int *>(data) += 1; }
static bool callbacks() {
    Buffer a;
    int count = 0;
    hipStream_t stream;
    CHECK(hipStreamCreate(&stream));
    for (int i = 0; i < 3; i++) {
        add<<<blocks(N), 256, 0, stream>>>(a.data, N, 1);
        CHECK(hipStreamAddCallback(stream, called, &count, 0));
    }
    CHECK(hipStreamSynchronize(stream));
    EXPECT(count == 3);
    return all(a.data, N, 3);
}
static bool graphs() {
    Buffer a;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    CHECK(hipStreamCreate(&stream));
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<blocks(N), 256, 0, stream>>>(a.data, N, 2);
    scale<<<blocks(N), 256, 0, stream>>>(a.data, N, 2);
    CHECK(hipStreamEndCapture(stream, &graph));
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 3; i++)
        CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    return all(a.data, N, ((0 + 2) * 2 + 2) * 2 * 2 + 4);
}
static bool managed_memory() {
    int *data;
    CHECK(hipMallocManaged(&data, N * sizeof(int)));
    for (int i = 0; i < N; i++)
        data[i] = i;
    scale<<<blocks(N), 256>>>(data, N, 3);
    CHECK(hipDeviceSynchronize());
    for (int i = 0; i < N; i++)
        EXPECT(data[i] == 3 * i);
    CHECK(hipFree(data));
    return true;
}
static bool host_memory() {
    int *host, *device;
    CHECK(hipHostMalloc(&host, N * sizeof(int)));
    CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
    for (int i = 0; i < N; i++)
        host[i] = i;
    add<<<blocks(N), 256>>>(device, N, 1);
    CHECK(hipDeviceSynchronize());
    for (int i = 0; i < N; i++)
        EXPECT(host[i] == i + 1);
    CHECK(hipHostFree(host));
    return true;
}
static bool registered_memory() {
    std::vector<int> host(N, 4);
    int *device;
    CHECK(hipHostRegister(host.data(), N * sizeof(int), hipHostRegisterDefault));
    CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host.data(), 0));
    add<<<blocks(N), 256>>>(device, N, 3);
    CHECK(hipDeviceSynchronize());
    for (int x : host)
        EXPECT(x == 7);
    host[5] = 100;
    add<<<blocks(N), 256>>>(device, N, 1);
    CHECK(hipDeviceSynchronize());
    EXPECT(host[5] == 101 && host[6] == 8);
    CHECK(hipHostUnregister(host.data()));
    EXPECT(host[5] == 101 && host[6] == 8);
    return true;
}
static bool variables() {
    int value = 0, four[4] = {10, 20, 30, 40}, host[4];
    CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(global_value), sizeof value));
    EXPECT(value == 7);
    value = 50;
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(global_value), &value, sizeof value));
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(constants), four, sizeof four));
    Buffer out(4);
    globals<<<1, 4>>>(out.data);
    CHECK(hipMemcpy(host, out.data, sizeof host, hipMemcpyDeviceToHost));
    EXPECT(!std::memcmp(host, four, sizeof four));
    CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(global_value), sizeof value));
    EXPECT(value == 54);
    return true;
}
static bool copies_2d() {
    int host[8][10], back[8][10] = {};
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 10; x++)
            host[y][x] = y * 100 + x;
    int *device;
    size_t pitch;
    CHECK(hipMallocPitch(reinterpret_cast<void **>(&device), &pitch, sizeof host[0], 8));
    EXPECT(pitch % 256 == 0);
    CHECK(hipMemcpy2D(device, pitch, host, sizeof host[0], sizeof host[0], 8, hipMemcpyHostToDevice));
    CHECK(hipMemcpy2D(back, sizeof back[0], device, pitch, sizeof back[0], 8, hipMemcpyDeviceToHost));
    EXPECT(!std::memcmp(host, back, sizeof host));
    CHECK(hipFree(device));
    return true;
}
static bool big_copies() {
    size_t n = 2 << 20;
    std::vector<int> host(n), back(n);
    for (size_t i = 0; i < n; i++)
        host[i] = i * 2654435761u;
    Buffer a(n), b(n);
    CHECK(hipMemcpy(a.data, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(b.data, a.data, n * sizeof(int), hipMemcpyDeviceToDevice));
    CHECK(hipMemcpy(back.data(), b.data, n * sizeof(int), hipMemcpyDeviceToHost));
    EXPECT(host == back);
    return true;
}
static bool memset_kinds() {
    Buffer a;
    CHECK(hipMemset(a.data, 0x11, N * sizeof(int)));
    EXPECT(all(a.data, N, 0x11111111));
    CHECK(hipMemsetD32(reinterpret_cast<hipDeviceptr_t>(a.data), 77, N));
    return all(a.data, N, 77);
}
static bool dynamic_shared_memory() {
    std::vector<int> host(256);
    for (int i = 0; i < 256; i++)
        host[i] = i;
    Buffer in(256), out(1);
    CHECK(hipMemcpy(in.data, host.data(), 1024, hipMemcpyHostToDevice));
    shared_sum<<<1, 256, 1024>>>(in.data, out.data);
    return all(out.data, 1, 255 * 256 / 2);
}
static bool grids_3d() {
    Buffer out(12 * 6 * 4);
    std::vector<int> host(12 * 6 * 4);
    box<<<dim3(3, 2, 2), dim3(4, 3, 2)>>>(out.data, 12, 6);
    CHECK(hipMemcpy(host.data(), out.data, host.size() * sizeof(int), hipMemcpyDeviceToHost));
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 12; x++)
                EXPECT(host[(z * 6 + y) * 12 + x] == z * 10000 + y * 100 + x);
    return true;
}
static bool pointers() {
    Buffer a;
    hipPointerAttribute_t attributes;
    CHECK(hipPointerGetAttributes(&attributes, a.data + 10));
    EXPECT(attributes.memoryType == hipMemoryTypeDevice && attributes.device == 0);
    int *host;
    CHECK(hipHostMalloc(&host, 64));
    CHECK(hipPointerGetAttributes(&attributes, host));
    EXPECT(attributes.memoryType == hipMemoryTypeHost && attributes.hostPointer == host);
    CHECK(hipHostFree(host));
    int local;
    EXPECT(hipPointerGetAttributes(&attributes, &local) == hipErrorInvalidValue);
    (void)hipGetLastError();
    return true;
}
static bool spinning_on_the_host() {
    int *flag, *seen;
    CHECK(hipHostMalloc(&flag, 2 * sizeof(int)));
    seen = flag + 1;
    flag[0] = flag[1] = 0;
    spin<<<1, 1>>>(flag, seen);
    usleep(20000);
    EXPECT(*seen == 0);
    *static_cast<volatile int *>(flag) = 9;
    CHECK(hipDeviceSynchronize());
    EXPECT(*seen == 9);
    return true;
}
static bool spinning_on_each_other() {
    Buffer flags(2);
    hipStream_t first, second;
    CHECK(hipStreamCreate(&first));
    CHECK(hipStreamCreate(&second));
    spin<<<1, 1, 0, first>>>(flags.data, flags.data + 1);
    raise<<<1, 1, 0, second>>>(flags.data, 3);
    CHECK(hipStreamSynchronize(first));
    CHECK(hipStreamSynchronize(second));
    return all(flags.data, 2, 3);
}
static bool many_launches() {
    Buffer a;
    for (int i = 0; i < 300; i++)
        add<<<1, 64>>>(a.data, 64, 1);
    return all(a.data, 64, 300);
}
static bool many_allocations() {
    std::vector<int *> pointers(500);
    for (auto &p : pointers)
        CHECK(hipMalloc(&p, 100));
    for (auto &p : pointers)
        CHECK(hipFree(p));
    return true;
}
// The last one: it ends the program.
static bool out_of_bounds() {
    Buffer a;
    std::fflush(stdout);
    beyond<<<1, 1>>>(a.data, N);
    CHECK(hipDeviceSynchronize());
    return true;
}

int main(int argc, char **argv) {
    struct {
        const char *name;
        bool (*run)();
    } features[] = {
#define FEATURE(name) {#name, name}
        FEATURE(properties), FEATURE(streams), FEATURE(events_between_streams), FEATURE(event_times), FEATURE(callbacks),
        FEATURE(graphs), FEATURE(managed_memory), FEATURE(host_memory), FEATURE(registered_memory), FEATURE(variables),
        FEATURE(copies_2d), FEATURE(big_copies), FEATURE(memset_kinds), FEATURE(dynamic_shared_memory), FEATURE(grids_3d),
        FEATURE(pointers), FEATURE(spinning_on_the_host), FEATURE(spinning_on_each_other), FEATURE(many_launches),
        FEATURE(many_allocations), FEATURE(out_of_bounds),
    };
    for (auto &feature : features) {
        bool wanted = argc == 1 && feature.run != out_of_bounds;
        for (int i = 1; i < argc; i++)
            wanted |= !std::strcmp(argv[i], feature.name);
        if (wanted)
            std::printf("%s: %s\n", feature.name, feature.run() ? "ok" : "wrong");
        std::fflush(stdout);
    }
    return 0;
}
