// Functions to be called from the debugger: every way that arguments and results travel.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define KEPT __device__ __attribute__((noinline, used))
typedef float float4v __attribute__((ext_vector_type(4)));
typedef _Float16 half3v __attribute__((ext_vector_type(3)));
typedef short short2v __attribute__((ext_vector_type(2)));

struct Empty {};
struct Small { int a; char b; };
struct Odd { char c[3]; };
struct Wrapped { double d; };
struct Mid { int a[5]; short s; };
struct Big { int a[40]; double d; };
struct Padded { char c; long l; short s; };
struct Copied {
    int x;
    KEPT Copied(const Copied &other) : x(other.x + 1000) {}
    __device__ Copied(int value) : x(value) {}
};
struct Shape {
    int sides;
    KEPT virtual int area() const { return 1; }
    KEPT virtual int weight(int by) { return sides * by; }
    KEPT int doubled() const { return 2 * area(); }
};
struct Square : Shape {
    int side;
    KEPT int area() const override { return side * side; }
};
struct Counted {
    int n;
    KEPT int add(int k) { n += k; return n; }
    KEPT static int twice(int k) { return 2 * k; }
};
struct Derived : Small { int c; long d; };
struct NotPlain { __device__ NotPlain() {} int a; char b; };
struct Tail : NotPlain { char c; long d; };  // c is in what NotPlain leaves free
struct OfEmpty : Empty { int a[3]; };
struct Twice : Small, OfEmpty { short s; };
struct Far { int x[20]; };
struct FarDerived : Far { int y; };
struct Bits { int a : 3; long c; int d : 9; };
struct Joined { unsigned a : 4, b : 20; long c : 40; char t; };  // one integer of 64 bits
struct Apart { char c; int a : 5, b : 20, d : 20; double z; };   // three of other sizes
namespace geometry {
struct Point {
    float x, y;
    KEPT Point operator+(Point o) const { return Point{x + o.x, y + o.y}; }
    KEPT float operator[](int i) const { return i ? y : x; }
    KEPT Point operator-() const { return Point{-x, -y}; }
};
KEPT bool operator==(Point a, Point b) { return a.x == b.x && a.y == b.y; }
KEPT Point operator*(float k, Point p) { return Point{k * p.x, k * p.y}; }
KEPT float length2(const Point &p) { return p.x * p.x + p.y * p.y; }
}

KEPT signed char narrow(signed char a, unsigned short b) { return (signed char)(a - b); }
KEPT long wide(long a, short b, signed char c) { return a + b + c; }
KEPT __int128 widest(__int128 a, int b) { return a + b; }
KEPT double mixed(double a, float b, _Float16 h) { return a / 2 + b + h; }
KEPT _Float16 halved(_Float16 h) { return h / 2; }
KEPT bool is_odd(int x) { return x & 1; }
KEPT int negate(bool b) { return b ? -1 : 1; }
KEPT float4v scaled(float4v v, float k) { return v * k; }
KEPT half3v halves(half3v v) { return v + v; }
KEPT short2v swapped(short2v v) { return v.yx; }
KEPT int of_empty(Empty, int x) { return x; }
KEPT int of_small(Small s, int x) { return s.a + s.b + x; }
KEPT int of_odd(Odd o) { return o.c[0] + 10 * o.c[1] + 100 * o.c[2]; }
KEPT double of_wrapped(Wrapped w) { return w.d * 2; }
KEPT int of_mid(Mid m, int x) { return m.a[0] + m.a[4] + m.s + x; }
KEPT long of_padded(Padded p) { return p.c + p.l + p.s; }
KEPT int of_big(Big b, int x) { return b.a[0] + b.a[39] + (int)b.d + x; }
KEPT int of_two(Mid m, Mid n, Mid o, int x) { return m.a[0] + n.a[0] * 10 + o.a[0] * 100 + x; }
KEPT int of_copied(Copied c) { return c.x; }
KEPT Small make_small(int a) { return Small{a, (char)(a + 1)}; }
KEPT Mid make_mid(int x) { return Mid{{x, x + 1, x + 2, x + 3, x + 4}, (short)x}; }
KEPT Padded make_padded(int x) { return Padded{(char)x, x * 100l, (short)-x}; }
KEPT Big make_big(int x) { Big b; for (int i = 0; i < 40; i++) b.a[i] = x + i; b.d = x; return b; }
KEPT Copied make_copied(int x) { return Copied(x); }
KEPT Derived make_derived(int x) { Derived d; d.a = x; d.b = x + 1; d.c = x + 2; d.d = x + 3; return d; }
KEPT long of_derived(Derived d, int k) { return d.a + 10 * d.b + 100 * d.c + 1000 * d.d + 10000 * k; }
KEPT Tail make_tail(int x) { Tail d; d.a = x; d.b = x + 1; d.c = x + 2; d.d = x + 3; return d; }
KEPT long of_tail(Tail d, int k) { return d.a + 10 * d.b + 100 * d.c + 1000 * d.d + 10000 * k; }
KEPT OfEmpty make_of_empty(int x) { OfEmpty e; e.a[0] = x; e.a[1] = x + 1; e.a[2] = x + 2; return e; }
KEPT int of_of_empty(OfEmpty e, int k) { return e.a[0] + 10 * e.a[1] + 100 * e.a[2] + 1000 * k; }
KEPT Twice make_twice(int x) { Twice t; (Small &)t = Small{x, (char)(x + 1)}; t.OfEmpty::a[1] = x + 3; t.s = x; return t; }
KEPT int of_twice(Twice t, int k) { return t.b + 10 * t.OfEmpty::a[1] + 100 * t.s + 1000 * k; }
KEPT FarDerived make_far(int x) { FarDerived f; for (int i = 0; i < 20; i++) f.x[i] = x + i; f.y = x; return f; }
KEPT int of_far(FarDerived f, int k) { return f.x[19] + f.y * 100 + 1000 * k; }
KEPT long of_bits(Bits b) { return b.a; }
KEPT Joined joined(Joined j, int k) { j.b += k; j.c--; j.t++; return j; }
KEPT Apart apart(Apart x, int k) { x.a += k; x.b--; x.d++; x.z *= 2; return x; }
KEPT int many(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int b0, int b1, int b2,
              int b3, int b4, int b5, int b6, int b7, int b8, int b9, int c0, int c1, int c2, int c3, int c4, int c5,
              int c6, int c7, int c8, int c9, long across, int d1, double d2)
{
    return a0 + b0 * 10 + c9 * 100 + (int)across * 1000 + d1 * 10000 + (int)d2 * 100000;
}
KEPT int where() { return __builtin_amdgcn_workitem_id_x() + 1000 * __builtin_amdgcn_workgroup_id_x(); }
KEPT unsigned sizes() { return __builtin_amdgcn_workgroup_size_x() + 1000 * __builtin_amdgcn_grid_size_x(); }
KEPT int roomy(int x) { volatile int big[3000]; big[x] = 5; return big[x] + x; }
KEPT int overloaded(int) { return 1; }
KEPT int overloaded(double) { return 2; }
KEPT int overloaded(Small *) { return 3; }
KEPT int overloaded(const char *) { return 4; }
KEPT int length(const char *text) { int n = 0; while (text[n]) n++; return n; }
KEPT void put(int *p, int v) { *p = v; }
KEPT int replace(int &a, int b) { int old = a; a = b; return old; }
KEPT int factorial(int n)
{
    if (n < 2)
        return 1;
    return n * factorial(n - 1);
}
KEPT int crash(int *p) { return *p + 1; }
KEPT int forever(int x) { while (x) asm volatile(""); return x; }
KEPT int alone(int x) { __builtin_amdgcn_s_barrier(); return x; }
KEPT int ended(int x) { if (x) __builtin_amdgcn_endpgm(); return x; }
static inline __device__ __attribute__((always_inline)) int inlined(int a) { return a * 7; }
typedef int (*Function)(int);
__device__ Function chosen = factorial;
__device__ int total = 5;
KEPT int next() { return ++total; }

__global__ void kern(int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    geometry::Point p{(float)i, 2}, q{3, 4};
    Small small{i, 2};
    Odd odd{{1, 2, (char)i}};
    Wrapped wrapped{i + 0.5};
    Mid mid{{i, 2, 3, 4, 5}, 6};
    Padded padded{1, i, 3};
    Big big = make_big(i);
    Copied copied(i);
    Empty empty;
    float4v v{1, 2, 3, (float)i};
    half3v h{1, 2, 3};
    short2v pair{1, 2};
    Square square;
    square.sides = 4;
    square.side = i;
    Shape *shape = &square;
    Counted counted{i};
    int local = i;
    int (Counted::*method)(int) = &Counted::add;
    int (Shape::*virtual_method)(int) = &Shape::weight;
    Function pointer = i & 1 ? factorial : chosen;
    __int128 large = i;
    Bits bits{1, 2, 3};
    Joined together{5, 1000, -77, 'q'};
    Apart spread{'c', -3, 400, -500, 2.5};
    out[i] = local;
    out[i] += inlined(n) + pointer(3) + (int)(p + q).x + shape->area() + of_big(big, 0) + (counted.*method)(1);
    if (n < 0)
        out[i] += crash(0) + (shape->*virtual_method)(2) + (int)large;
}

// Needs no stack, few registers and, optimised, no implicit arguments.
__global__ void bare(int *out) { out[__builtin_amdgcn_workitem_id_x()] = 1; }
