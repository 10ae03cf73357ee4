// What a reduction reads by place stands behind branches: all that a thread has on its way together is read before any of it
// is compared, which would wait for it.
// RUN: tenon-compile %s --target=sm_80 --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: cat %t/largest_dispatch_*_sm_80.ptx | FileCheck %s
// CHECK: ld.global
// CHECK-NOT: max.
// CHECK: ld.global
// CHECK-NOT: max.
// CHECK: ld.global
// CHECK-NOT: max.
// CHECK: ld.global
// CHECK: max.
func.func @largest(%x: tensor<3x4999xf32>, %y: tensor<4x4999xf32>) -> tensor<7xf32> {
  %all = tensor.concat dim(0) %x, %y : (tensor<3x4999xf32>, tensor<4x4999xf32>) -> tensor<7x4999xf32>
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<7xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<7xf32>) -> tensor<7xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%all : tensor<7x4999xf32>) outs(%start : tensor<7xf32>) {
  ^bb0(%e: f32, %s: f32):
    %n = arith.maximumf %s, %e : f32
    linalg.yield %n : f32
  } -> tensor<7xf32>
  return %max : tensor<7xf32>
}
