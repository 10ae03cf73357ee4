// Members that share words with others, between scalars.
struct Mixed {
  signed char a;
  short b;
  float c;
  long long d;
  signed char e;
};

extern "C" __global__ void mix(float *out, int first, Mixed mixed, int last) {
  if (threadIdx.x == 0) {
    out[0] = mixed.a + first;
    out[1] = mixed.b + last;
    out[2] = mixed.c;
    out[3] = float(mixed.d);
    out[4] = mixed.e;
  }
}
