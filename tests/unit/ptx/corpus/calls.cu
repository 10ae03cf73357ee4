// printf, assert, malloc, function pointers, virtual calls, recursion, aggregates returned, inline assembly with
// scopes. minimum: compute_75
#include <cassert>
#include <cstdio>

struct Big {
  double a[5];
  int b;
};
__device__ __noinline__ Big makeBig(int x, float y) {
  Big b{};
  for (int i = 0; i < 5; ++i)
    b.a[i] = x * y + i;
  b.b = x;
  return b;
}
__device__ __noinline__ int factorial(int n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}
__device__ __noinline__ float addOne(float x) {
  return x + 1;
}
__device__ __noinline__ float twice(float x) {
  return x * 2;
}
typedef float (*Unary)(float);
__device__ Unary table[2] = {addOne, twice};
__constant__ Unary constantTable[3] = {twice, nullptr, addOne};

struct Shape {
  __device__ virtual float area(float scale) const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ float area(float s) const override { return side * side * s; }
};
struct Circle : Shape {
  float radius;
  __device__ float area(float s) const override { return radius * radius * 3.14f * s; }
};

__device__ __noinline__ void fillAll(Big *b, int n) {
  for (int i = 0; i < n; ++i)
    b[i] = makeBig(i, 0.5f);
}
extern "C" __global__ void calls(float *x, int n, int which) {
  assert(n > 0 && "n is positive");
  printf("thread %d of %s: %f\n", threadIdx.x, "kernel", x[0]);
  Big b = makeBig(n, x[1]);
  x[2] = b.a[3] + factorial(n);
  x[3] = table[which & 1](x[0]) + (constantTable[which] ? constantTable[which](x[4]) : 0);
  Shape *shape = which ? (Shape *)new Square() : new Circle();
  x[5] = shape->area(x[6]);
  delete shape;
  Big *heap = (Big *)malloc(n * sizeof(Big));
  fillAll(heap, n);
  x[7] = heap[n - 1].a[2];
  free(heap);
}
extern "C" __global__ void inlineAssembly(unsigned *x, float *f) {
  unsigned r, p;
  asm volatile("{\n\t.reg .pred p<2>;\n\t.reg .b32 t, u;\n\tsetp.ne.and.u32 p0|p1, %2, 0, 1;\n\t"
               "@!p0 bra DONE_%=;\n\tmov.b32 t, WARP_SZ;\n\tadd.u32 u, t, 1;\n\tDONE_%=: selp.u32 %0, 1, 0, p1;\n\t"
               "mov.u32 %1, %%laneid;\n\t}"
               : "=r"(r), "=r"(p)
               : "r"(x[0]));
  x[1] = r + p;
  asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(r) : "r"(x[2]));
  asm("prmt.b32 %0, %1, %2, 0x3210;" : "=r"(p) : "r"(x[3]), "r"(r));
  asm volatile("// a comment\n\tst.global.v2.u32 [%0], {%1, %2}; /* another; } */" ::"l"(x), "r"(r), "r"(p) : "memory");
  asm("vadd.u32.u32.u32 %0, %1.b0, %2.h1;" : "=r"(x[5]) : "r"(r), "r"(p));
  asm("mul.f32 %0, %1, 0f40490FDB;" : "=f"(f[0]) : "f"(f[1]));
}
