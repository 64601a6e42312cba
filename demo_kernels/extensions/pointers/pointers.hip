// Pointers to things that are in registers and so have no address; see pointers.S.
struct Pair {
  int first, second;
};
__global__ void pointers(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  __shared__ int slot;
  Pair pair = {in[i], 7};
  Pair *p = &pair;
  Pair **pp = &p;
  int *second = &p->second;
  __local int *shared = &slot;
  (*pp)->second += 2 * p->first;
  *shared = *second - 1;
  out[i] = *shared ^ pair.first;
}
