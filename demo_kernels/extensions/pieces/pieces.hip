// A struct whose members the compiler keeps in seven different places; see pieces.S.
struct Parts {
  int scalar, vector, shared, scratch, constant, literal, lost;
};
__global__ void pieces(int *out, const int *in)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  Parts parts;
  parts.scalar = in[0];
  parts.vector = in[i];
  parts.shared = 3 * parts.vector;
  parts.scratch = parts.vector - 1;
  parts.constant = 42;
  parts.literal = 1000;
  int quad[4] = {in[0], in[0], in[0], in[0]};
  int nibbles = in[1] & 0xf | in[i] << 4;
  parts.lost = parts.scalar + parts.vector + parts.shared + parts.scratch;
  out[i] = parts.lost + parts.constant + parts.literal + quad[2] + nibbles;
}
