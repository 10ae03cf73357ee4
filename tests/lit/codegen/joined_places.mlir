// A convolution of one place whose channels come second is a product of the image as it lies: its places are one dimension, whose
// rows are boxes of a tensor map, with a bias, a residual and a relu behind it. Where they are no vectors, channels are brought last.
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --iree-hal-dump-executable-sources-to=%t.sources
// RUN: cat %t.sources/*.mlir | FileCheck %s
// RUN: tenon-run %t.tenon --device=emulator --function=boxes --input=2x64x24x24xbf16=1 --input=96x64x1x1xbf16=1 --input=96xf32=2 --input=2x96x24x24xbf16=3 --output=- | FileCheck %s --check-prefix=RESULT

// CHECK: func.func @boxes_dispatch_0(
// CHECK-SAME: tensor<2x64x576xbf16>
// CHECK-SAME: tensor_map<binding = 0, 1x64x64xbf16
// CHECK: tensor<2x96x576xbf16>
// CHECK-NOT: @boxes_dispatch_1
// CHECK: func.func @others_dispatch_0(
// CHECK-SAME: -> tensor<32x14x14x256xbf16>
// RESULT: 2x96x24x24xbf16={{\[\[\[}}69 69
func.func @boxes(%x: tensor<2x64x24x24xbf16>, %w: tensor<96x64x1x1xbf16>, %b: tensor<96xf32>, %r: tensor<2x96x24x24xbf16>) -> tensor<2x96x24x24xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x96x24x24xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<2x96x24x24xf32>) -> tensor<2x96x24x24xf32>
  %p = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x64x24x24xbf16>, tensor<96x64x1x1xbf16>) outs(%start : tensor<2x96x24x24xf32>) -> tensor<2x96x24x24xf32>
  %room = tensor.empty() : tensor<2x96x24x24xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(n, c, h, v) -> (n, c, h, v)>, affine_map<(n, c, h, v) -> (c)>, affine_map<(n, c, h, v) -> (n, c, h, v)>,
      affine_map<(n, c, h, v) -> (n, c, h, v)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %b, %r : tensor<2x96x24x24xf32>, tensor<96xf32>, tensor<2x96x24x24xbf16>) outs(%room : tensor<2x96x24x24xbf16>) {
  ^bb0(%s: f32, %bias: f32, %beside: bf16, %old: bf16):
    %f = arith.extf %beside : bf16 to f32
    %g = arith.addf %s, %bias : f32
    %h = arith.addf %g, %f : f32
    %m = arith.maximumf %h, %zero : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<2x96x24x24xbf16>
  return %q : tensor<2x96x24x24xbf16>
}

func.func @others(%x: tensor<32x256x14x14xbf16>, %w: tensor<128x256x1x1xbf16>) -> tensor<32x128x14x14xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x128x14x14xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<32x128x14x14xf32>) -> tensor<32x128x14x14xf32>
  %p = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<32x256x14x14xbf16>, tensor<128x256x1x1xbf16>) outs(%start : tensor<32x128x14x14xf32>) -> tensor<32x128x14x14xf32>
  return %p : tensor<32x128x14x14xf32>
}
