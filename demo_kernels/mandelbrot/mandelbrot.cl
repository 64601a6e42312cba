// Iterations until the orbit escapes: neighbouring lanes leave the loop at very different times.
#include "../device.clh"

kernel void mandelbrot(global int *iterations, int width, int height, int limit)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    float cr = -2.0f + 3.0f * x / width;
    float ci = -1.0f + 2.0f * y / height;
    float zr = 0, zi = 0;
    int count = 0;
    while (count < limit) {
        float rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0f)
            break;
        zi = 2.0f * zr * zi + ci;
        zr = rr - ii + cr;
        ++count;
    }
    iterations[y * width + x] = count;
}
