/* OpenCL C: an image filter with helpers, structures and vectors. */
typedef struct { uchar4 pixel; float gain; ushort level; } Sample;
typedef enum { NEAREST, LINEAR = 2, CUBIC } Mode;
struct Options { Mode mode; int radius; float3 tint; };
__constant float kernel_weights[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
__constant char title[] = "filter";
#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

float weigh(float4 v, int i) {
  float w = kernel_weights[i];
  float s = v.x + v.y + v.z + v.w;
  return s * w;
}

int blur(__global int *out, int n, int radius) {
  int sum = 0;
  for (int d = -radius; d <= radius; d++) {
    int at = CLAMP(n + d, 0, 15);
    sum += out[at];
  }
  return sum;
}

uchar4 mix_pixels(uchar4 a, uchar4 b) {
  uchar4 half_a = a / (uchar4)(2);
  uchar4 half_b = b / (uchar4)(2);
  return half_a + half_b;
}

void process(Sample *s, const struct Options *o) {
  s->gain *= 2;
  s->level += o->radius;
  if (o->mode == LINEAR)
    s->pixel.x = 255;
}

__kernel void kern(__global int *out, int n) {
  Sample s = {(uchar4)(1, 2, 3, 4), 0.5f, 1000};
  struct Options options = {LINEAR, 2, (float3)(1, 0.5f, 0.25f)};
  float4 v = (float4)(1, 2, 3, 4);
  int4 lanes = (int4)(n, n + 1, n + 2, n + 3);
  double2 pair = (double2)(1.5, -2.5);
  short8 shorts = (short8)(1, 1, 1, 1, 1, 1, 1, 2);
  Sample series[3];
  for (int i = 0; i < 3; i++) {
    series[i] = s;
    series[i].level = i;
  }
  process(&s, &options);
  uchar4 mixed = mix_pixels(s.pixel, (uchar4)(100));
  float total = weigh(v, 2);
  out[0] = blur(out, n, options.radius);
  out[1] = (int)total + mixed.y + lanes.s2 + (int)pair.x + shorts.s7 + series[1].level + title[0];
}
