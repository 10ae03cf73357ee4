// Exact f32 whose rows are not aligned are not copied: threads bring elements one by one, and steps that are whole ask for none of them
// whether it is there.
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --input-file=%t.kernels/tiles_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=FEW --input-file=%t.kernels/few_dispatch_0_sm_90a.ptx
// RUN: not ls %t.kernels/tiles_dispatch_1_sm_90a.ptx

// Behind the first step, which is brought before the loop:
// CHECK: bar.sync
// CHECK-NOT: selp.f32
// CHECK-COUNT-256: fma.rn.f32
func.func @tiles(%a: tensor<126x16383xf32>, %b: tensor<2048x16383xf32>) -> tensor<126x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<126x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<126x2048xf32>) -> tensor<126x2048xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<126x16383xf32>, tensor<2048x16383xf32>) outs(%f : tensor<126x2048xf32>) -> tensor<126x2048xf32>
  return %r : tensor<126x2048xf32>
}

// Of nine rows the matrix is read once: nine sums for each of its elements, of which a lane has eight in a step.
// FEW-NOT: selp.f32
// FEW-COUNT-72: fma.rn.f32
func.func @few(%a: tensor<9x1023xf32>, %b: tensor<4000x1023xf32>) -> tensor<9x4000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x4000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9x4000xf32>) -> tensor<9x4000xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<9x1023xf32>, tensor<4000x1023xf32>) outs(%f : tensor<9x4000xf32>) -> tensor<9x4000xf32>
  return %r : tensor<9x4000xf32>
}
