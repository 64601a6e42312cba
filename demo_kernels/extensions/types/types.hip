// Objects that take an expression to be found, measured or computed; Row and Table are arrays with a descriptor. See types.S.
typedef int int4 __attribute__((vector_size(16)));
struct Pair {
  int first, second;
};
__global__ void types(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  const int scale = 3;
  int next = scale + 4;
  int4 v = *(const int4 *)(in + 4 * i);
  int4 twice = v + v;
  float quarter = v[0] / 4.0f;
  unsigned flags = 0x12345078 | (i & 15) << 8;
  Row row(in + 4 * i, 1 + (i & 3));
  Row spare;
  Row unset(0, 0);
  Table table(in + 4 * i, {2, 2});
  Pair pair = {v[0], v[3]};
  int Pair::*member = i & 1 ? &Pair::second : &Pair::first;
  int sum = 0;
  for (int k = 0; k < row.count; k++)
    sum += row[k];
  out[i] = sum + pair.*member + flags + next;
}
