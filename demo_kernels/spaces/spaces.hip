// Structures, arrays and pointers in every address space: global, constant, LDS, private and generic.
#include "../device.h"

enum Shade { DARK, MEDIUM, BRIGHT };

struct Pixel {
    unsigned char red, green, blue;
    Shade shade;
};

struct Node {
    int key;
    float weight[3];
    const Node *next; // set by the kernel: follow as a pointer
    Pixel pixel;
    unsigned low : 3, middle : 7, high : 12;
    bool marked;
    double scale;
    int follow; // index of the next node, -1 at the end
};

__constant__ int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int total_marked = 0;

static __device__ __noinline__ int through_generic(const int *pointer, int index)
{
    return pointer[index];
}

extern "C" __global__ void spaces(Node *nodes, double *output, int n)
{
    __shared__ int tile[64];
    int lane = thread_x();
    int local_copy[4];

    tile[lane] = weights[lane % 8] * lane;
    for (int k = 0; k < 4; ++k)
        local_copy[k] = lane + k * 100;
    if (lane < n)
        nodes[lane].next = nodes[lane].follow < 0 ? nullptr : &nodes[nodes[lane].follow];
    sync_threads();

    const Node *node = &nodes[lane % n];
    int hops = 0;
    while (node->next && hops < lane) {
        node = node->next;
        ++hops;
    }

    int from_lds = through_generic(tile, 63 - lane);
    int from_private = through_generic(local_copy, lane % 4);
    int from_constant = through_generic(weights, lane % 8);

    double sum = node->scale * (from_lds + from_private + from_constant);
    sum += node->weight[lane % 3] + node->pixel.green + node->middle;
    if (node->marked) {
        __atomic_fetch_add(&total_marked, 1, __ATOMIC_RELAXED);
        sum = -sum;
    }
    output[lane] = sum + node->key + node->pixel.shade;
}
