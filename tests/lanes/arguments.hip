// Functions whose arguments differ by lane: values, strings, references and structures, in registers and in memory.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

struct Pair { int x, y; };
struct Big { Pair pair; const char *name; double numbers[3]; };
enum Colour { RED, GREEN = 3, BLUE };
__device__ const char text[] = "one two three";

__device__ __attribute__((noinline)) int look(int &r, const char *s, Pair p, Pair *q, int n)
{
    int sum = r + s[0] + p.x + q->y + n;
    if (sum & 1)
        r += 2;
    return sum;
}

extern "C" __global__ void private_memory(int *in, int *out)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int mine = in[i] * 10;
    char name[4] = {(char)('a' + i % 26), 'x', 'y', 0};
    Pair p = {i, i * 2};
    if (i % 3)
        out[i] = look(mine, name, p, &p, i);
}

__device__ __attribute__((noinline)) int twelve(
    int a, float b, double c, const char *s, Pair p, Big &r, int *q, Colour e, bool f, unsigned short w, char ch,
    long long l, int *out)
{
    int sum = a + (int)b + p.x + r.pair.x + *q + e + f + w + ch + (int)l + (int)c + s[a & 7];
    if (sum & 1)
        sum += out[a & 63];
    else
        sum -= 3;
    if (sum % 3 == 0)
        sum *= 2;
    return sum;
}

__device__ __attribute__((noinline)) int factorial(int n, int *out)
{
    if (n <= 1)
        return out[0] + 1;
    int below = factorial(n - 1, out);
    return n * below + out[n & 63];
}

extern "C" __global__ void many_arguments(int *in, int *out)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int n = in[i];
    Big b = {{n, n * 2}, text + (i & 7), {1, 2, 3}};
    if (n > 5)
        n += twelve(n, n * 0.5f, n * 0.25, b.name, b.pair, b, &n, n & 1 ? GREEN : BLUE, n & 1, (unsigned short)n,
                    'a' + n % 20, 1ll << (n & 31), out);
    out[i] = n + factorial(n % 5, in);
}
