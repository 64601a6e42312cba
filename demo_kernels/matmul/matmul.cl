// Tiled matrix product: each workgroup computes an 8 by 8 tile of C, staging A and B through LDS.
#include "../device.clh"

#define TILE 8

__attribute__((reqd_work_group_size(TILE, TILE, 1)))
kernel void matmul(global const float *a, global const float *b, global float *c, int size)
{
    local float tile_a[TILE][TILE];
    local float tile_b[TILE][TILE];
    int column = get_global_id(0);
    int row = get_global_id(1);
    int x = get_local_id(0);
    int y = get_local_id(1);
    float sum = 0;

    for (int base = 0; base < size; base += TILE) {
        tile_a[y][x] = a[row * size + base + x];
        tile_b[y][x] = b[(base + y) * size + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k)
            sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * size + column] = sum;
}
