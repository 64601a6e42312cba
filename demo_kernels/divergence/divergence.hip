// Lanes part ways: a nested if/else, a loop that each lane leaves at its own time, a switch.
#include "../device.h"

extern "C" __global__ void divergence(const int *input, int *output, int n)
{
    int i = global_x();
    int value = i < n ? input[i] : 0;
    int result;

    if (value % 2 == 0) {
        if (value > 40) {
            result = value - 40;
        } else {
            result = value + 1000;
        }
    } else {
        result = -value;
    }

    int steps = 0;
    int walker = value + 1;
    while (walker != 1) {
        if (walker & 1)
            walker = 3 * walker + 1;
        else
            walker /= 2;
        ++steps;
        if (steps == 50)
            break;
    }

    switch (value & 3) {
    case 0:
        result += steps;
        break;
    case 1:
        result -= steps;
        break;
    case 2:
        result *= 2;
        break;
    default:
        result ^= steps;
    }

    if (i < n)
        output[i] = result;
}
