/* Bases, virtual and ambiguous; members by pointer; namespaces; literals and operators. */
#ifdef __HIP__
#define GLOBAL __attribute__((global)) 
#define DEV __attribute__((device))
#else
#define GLOBAL
#define DEV
#endif
struct A { int a; int same; DEV A():a(1),same(2){} DEV virtual int f(int x){return x+a;} };
struct B { int b; int same; DEV B():b(3),same(4){} DEV virtual int g(){return b;} };
struct C : A, B { int c; static int st; DEV C():c(5){} DEV int f(int x) override {return c+x;} DEV int m(int x) const {return x;} DEV int m(double d) const {return 2;} };
DEV int C::st = 9;
struct V { int v; DEV V():v(7){} };
struct L : virtual V { int l; DEV L():l(8){} };
struct R : virtual V { int r; DEV R():r(9){} };
struct D : L, R { int d; DEV D():d(10){} };
namespace ns { enum class Kind : unsigned char { One = 1, Two, Four = 4 }; enum Plain { PA, PB = 5 }; DEV int count = 3; namespace in { DEV int deep = 4; struct T { int t; }; } DEV int fun(int x){ static int st = 5; return x+st++; } }
namespace al = ns::in;
enum { ANON1 = 11, ANON2 = 12 };
enum Flags { F1 = 1, F2 = 2, F4 = 4 };
template<int N, typename T> struct Arr { T d[N]; DEV int size() const { return N; } };
template<typename T> DEV T tmax(T a, T b) { return a > b ? a : b; }
DEV int over(int x) { return x; }
DEV int over(double x) { return 2; }
DEV int shadow = 100;
namespace ns { DEV int shadow = 200; DEV int useit() { return shadow; } }
struct alignas(32) Al { char c; };
struct Bits { unsigned a:3; int b:5; bool c:1; unsigned long long big:40; };
union U { int i; float f; unsigned char b[4]; };
typedef int (*FP)(int);
struct Op { int x; DEV Op operator+(const Op&o) const { Op r; r.x = x+o.x; return r; } DEV bool operator==(const Op&o) const { return x==o.x; } DEV int operator[](int i) const { return x+i; } DEV Op& operator++() { ++x; return *this; } };
extern "C" GLOBAL void kern(int *out, int n) {
  C c; A *pa = &c; B *pb = &c; D d; L *pl = &d; R *pr = &d; V *pv = &d;
  int C::*mp = &C::c; int C::*mnull = nullptr; int (C::*mf)(int) = &C::f; int (C::*mg)(int) const = &C::m; int (C::*mfn)(int) = nullptr;
  ns::Kind k = ns::Kind::Two; ns::Plain pl2 = ns::PB; Flags fl = (Flags)(F1|F4); Flags fbad = (Flags)16; ns::Kind kbad = (ns::Kind)9;
  Arr<4,int> arr{{1,2,3,4}}; Arr<2,float> arf{{1.5f,2.5f}};
  Al al1; al1.c = 'x'; Bits bi{5,-3,true,123456789012ull}; U u; u.f = 1.5f;
  wchar_t wc = L'w'; char16_t c16 = u'\u20ac'; char32_t c32 = U'z'; const wchar_t *ws = L"wide"; const char16_t *s16 = u"six"; const char32_t *s32 = U"thirty";
  bool yes = true; signed char sc = -5; unsigned char uc = 200; short sh = -1234; unsigned short us = 60000; long lo = -5; unsigned long long ull = 18446744073709551615ull;
  float f = 1.5f; double dd = 2.25; int i = 42; int &ri = i; int &&rr = 43; const int ci = 7; volatile int vi = 8; const char *s = "hello"; char buf[10] = "abc";
  int m2[2][3] = {{1,2,3},{4,5,6}}; int *pi = &i; int **ppi = &pi; FP fp = ns::fun; void *vp = &i; auto np = nullptr; 
  __int128 big = (__int128)1 << 100; unsigned __int128 ubig = big; _Float16 h = 1.5; 
  Op o1{3}, o2{4}; auto lam = [&](int q) { return q + i; };
  al::T t{6};
  out[0] = c.c + d.d + arr.size() + arf.size() + tmax(1,2) + tmax(1.5,2.5) + over(1) + over(1.5) + ns::fun(1) + ns::useit() + lam(2) + (o1+o2).x + (o1==o2) + o1[1] + (++o1).x + c.m(1)+c.m(1.0) + pb->g() + pa->f(1) + (pv!=0) + pl->l + pr->r + shadow + ns::in::deep + ns::count;
  out[1] = (c.*mp) + (c.*mf)(1) + (c.*mg)(2) + ANON1 + fp(2);
  out[2] = sizeof(Bits);
}
