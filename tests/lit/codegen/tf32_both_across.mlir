// Warps read tf32 that lie across one by one from a tile that lies as the tensor does: vectors are copied to it, and nothing is turned on
// the way.
// RUN: rm -rf %t.kernels && tenon-compile %s -o %t.tenon --target=sm_80 --f32-products=tf32 --images=ptx --dump-kernels-to=%t.kernels
// RUN: FileCheck %s < %t.kernels/run_dispatch_0_sm_80.ptx

// CHECK: cp.async.cg.shared.global
// CHECK-NOT: ldmatrix
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT: ldmatrix
func.func @run(%a: tensor<256x128xf32>, %b: tensor<256x192xf32>) -> tensor<128x192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x192xf32>) -> tensor<128x192xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<256x128xf32>, tensor<256x192xf32>) outs(%f : tensor<128x192xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<128x192xf32>
  return %p : tensor<128x192xf32>
}
