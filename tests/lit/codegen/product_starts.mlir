// A product that starts from a bias for each column starts from zero: the bias is added behind, in the same kernel.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products --tenon-form-dispatches | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=layer --input=2x4xf32=1 --input=4x3xf32=2 --input="3xf32=1 2 3" \
// RUN:   --expected_output="2x3xf32=[9 10 11][9 10 11]"

// CHECK-LABEL: func.func @layer(
// CHECK-COUNT-1: flow.dispatch
// CHECK-NOT: flow.dispatch
// CHECK: return
func.func @layer(%a: tensor<2x4xf32>, %b: tensor<4x3xf32>, %bias: tensor<3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %s = linalg.broadcast ins(%bias : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
  %r = linalg.matmul ins(%a, %b : tensor<2x4xf32>, tensor<4x3xf32>) outs(%s : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @convolution(
// CHECK-COUNT-1: flow.dispatch
// CHECK-NOT: flow.dispatch
// CHECK: return
func.func @convolution(%i: tensor<?x9x9x16xf16>, %w: tensor<3x3x16x32xf16>, %bias: tensor<32xf32>) -> tensor<?x7x7x32xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?x9x9x16xf16>
  %e = tensor.empty(%n) : tensor<?x7x7x32xf32>
  %s = linalg.broadcast ins(%bias : tensor<32xf32>) outs(%e : tensor<?x7x7x32xf32>) dimensions = [0, 1, 2]
  %r = linalg.conv_2d_nhwc_hwcf ins(%i, %w : tensor<?x9x9x16xf16>, tensor<3x3x16x32xf16>) outs(%s : tensor<?x7x7x32xf32>) -> tensor<?x7x7x32xf32>
  return %r : tensor<?x7x7x32xf32>
}

// A window that leaves the last elements of its image, and one result along it: no index is a loop alone that does not
// reach the end.
// CHECK-LABEL: func.func @places(
// CHECK: return
func.func @places(%i: tensor<64x10x4x2xf32>, %w: tensor<64x5x3x8xf32>) -> tensor<8x2x1x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x2x1x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2x1x2xf32>) -> tensor<8x2x1x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d6, d1 + d5 * 2, d2 * 3 + d4, d3)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d6, d5, d4, d0)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%i, %w : tensor<64x10x4x2xf32>, tensor<64x5x3x8xf32>) outs(%f : tensor<8x2x1x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x2x1x2xf32>
  return %r : tensor<8x2x1x2xf32>
}
