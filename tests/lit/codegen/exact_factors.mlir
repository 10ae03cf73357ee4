// Threads that multiply f32 read four factors at a time, and those of a step's first reduced element behind the barrier of the step
// before, while its last products are made: no word is read where the loop begins.
// RUN: rm -rf %t && tenon-compile %s --target=sm_90a --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: cat %t/*.ptx | FileCheck %s

// CHECK: bar.sync
// CHECK: {{^}}$L__BB0_[[LOOP:[0-9]+]]:
// CHECK-NOT: ld.shared.b32
// CHECK: fma.rn.f32
// CHECK-NOT: ld.shared.b32
// CHECK: ld.shared.v4.b32
// CHECK-NOT: ld.shared.b32
// CHECK: bar.sync
// CHECK-NOT: ld.shared.b32
// CHECK: ld.shared.v4.b32
// CHECK-NOT: ld.shared.b32
// CHECK: bra{{.*}}$L__BB0_[[LOOP]];
func.func @product(%a: tensor<1024x512xf32>, %b: tensor<4096x512xf32>) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1024x512xf32>, tensor<4096x512xf32>) outs(%f : tensor<1024x4096xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %q = arith.mulf %l, %r : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1024x4096xf32>
  return %p : tensor<1024x4096xf32>
}
