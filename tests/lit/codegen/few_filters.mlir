// Few filters on many channels, and windows whose places are parts of the sum: tensor cores multiply them.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=TILES --input-file=%t.kernels/one_dispatch_1_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=TILES --input-file=%t.kernels/by_three_dispatch_1_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=TILES --input-file=%t.kernels/one_image_dispatch_0_sm_90a.ptx
// TILES-DAG: cp.async.bulk.tensor
// TILES-DAG: wgmma.mma_async

// One filter is a vector of them, and the result the first of each.
// CHECK: func.func @one_dispatch_0({{.*}}tensor<3x3x64x1xbf16>{{.*}}) -> tensor<3x3x64x8xbf16>
// CHECK: func.func @one_dispatch_1({{.*}}) -> tensor<2x64x64x8xf32> {{.*}}name = "contraction"
// CHECK: func.func @one_dispatch_2(
func.func @one(%x: tensor<2x66x66x64xbf16>, %f: tensor<3x3x64x1xbf16>) -> tensor<2x64x64x1xf32> {
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x64x64x1xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<2x64x64x1xf32>) -> tensor<2x64x64x1xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %f : tensor<2x66x66x64xbf16>, tensor<3x3x64x1xbf16>) outs(%start : tensor<2x64x64x1xf32>) -> tensor<2x64x64x1xf32>
  return %r : tensor<2x64x64x1xf32>
}

// By three filters: the gradient of the result has sixteen channels.
// CHECK: func.func @by_three_dispatch_0({{.*}}tensor<2x64x64x3xbf16>{{.*}}) -> tensor<2x64x64x16xbf16>
// CHECK: func.func @by_three_dispatch_1({{.*}}) -> tensor<{{.*}}x16x3x3x64xf32> {{.*}}name = "contraction"
func.func @by_three(%x: tensor<2x66x66x64xbf16>, %d: tensor<2x64x64x3xbf16>) -> tensor<3x3x3x64xf32> {
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x3x64xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<3x3x3x64xf32>) -> tensor<3x3x3x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, r, s, c, n, y, x) -> (n, y + r, x + s, c)>,
      affine_map<(f, r, s, c, n, y, x) -> (n, y, x, f)>, affine_map<(f, r, s, c, n, y, x) -> (f, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %d : tensor<2x66x66x64xbf16>, tensor<2x64x64x3xbf16>) outs(%start : tensor<3x3x3x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<3x3x3x64xf32>
  return %r : tensor<3x3x3x64xf32>
}

// One image of 7 x 7: each place of the window is a part, and one kernel adds up all nine.
// CHECK: func.func @one_image_dispatch_0({{.*}}) -> tensor<3x3x{{.*}}x512xf32> {{.*}}name = "contraction"
// CHECK: func.func @one_image_dispatch_1({{.*}}tensor<3x3x{{.*}}x512xf32>{{.*}}name = "columns"
// CHECK-NOT: @one_image_dispatch_2
func.func @one_image(%x: tensor<1x9x9x512xbf16>, %f: tensor<3x3x512x512xbf16>) -> tensor<1x7x7x512xf32> {
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7x7x512xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %f : tensor<1x9x9x512xbf16>, tensor<3x3x512x512xbf16>) outs(%start : tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32>
  return %r : tensor<1x7x7x512xf32>
}
