// A convolution of each channel for itself with a large window: products with a band of the filter. Four results of a row are
// a piece, and each warp has eight pieces of eight channels: eight places of a row are two units, of which a product takes both.
// Where tensor cores take no 16 elements, and of few places or in small layers, windows slide; who wants it otherwise says so.
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_90a -o %t.tenon --dump-kernels-to=%t.kernels --iree-hal-dump-executable-sources-to=%t.sources
// RUN: cat %t.sources/*.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.kernels/each_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=OLD --input-file=%t.kernels/each_dispatch_0_sm_75.ptx

// Of any number of images, with what they become behind it.
// CHECK: func.func @any_dispatch_0
// CHECK-SAME: tenon.strategy = {{.*}}name = "bands"
// CHECK: func.func @each_dispatch_0
// CHECK-SAME: tenon.strategy = {{.*}}name = "bands"
// CHECK: func.func @few_dispatch_0
// CHECK-SAME: tenon.strategy = {{.*}}name = "windows"

// The image's rows come beside the threads, zeros outside of it; a lane has eight channels of a place at once.
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group
// PTX: bar.sync
// PTX: ld.shared.v4.b32
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// What is not finite is summed again, by those who find it.
// PTX: fma.rn.f32
// OLD-NOT: mma.sync
// OLD: fma.rn.f32
func.func @each(%x: tensor<4x14x14x64xbf16>, %w: tensor<5x5x64xbf16>) -> tensor<4x14x14x64xf32> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %zero : bf16
  } : tensor<4x14x14x64xbf16> to tensor<4x18x18x64xbf16>
  %e = tensor.empty() : tensor<4x14x14x64xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<4x14x14x64xf32>) -> tensor<4x14x14x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, y, x, c, r, s) -> (n, y + r, x + s, c)>,
      affine_map<(n, y, x, c, r, s) -> (r, s, c)>, affine_map<(n, y, x, c, r, s) -> (n, y, x, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<4x18x18x64xbf16>, tensor<5x5x64xbf16>) outs(%start : tensor<4x14x14x64xf32>) attrs = {tenon.tile = {by = "bands"}} {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x14x14x64xf32>
  return %r : tensor<4x14x14x64xf32>
}

func.func @few(%x: tensor<4x16x16x64xbf16>, %w: tensor<3x3x64xbf16>) -> tensor<4x14x14x64xf32> {
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x14x14x64xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<4x14x14x64xf32>) -> tensor<4x14x14x64xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<4x16x16x64xbf16>, tensor<3x3x64xbf16>) outs(%start : tensor<4x14x14x64xf32>) -> tensor<4x14x14x64xf32>
  return %r : tensor<4x14x14x64xf32>
}

func.func @any(%x: tensor<?x32x32x64xbf16>, %w: tensor<5x5x64xbf16>) -> tensor<?x28x28x64xbf16> {
  %c0 = arith.constant 0 : index
  %images = tensor.dim %x, %c0 : tensor<?x32x32x64xbf16>
  %none = arith.constant 0.0 : f32
  %e = tensor.empty(%images) : tensor<?x28x28x64xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<?x28x28x64xf32>) -> tensor<?x28x28x64xf32>
  %s = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<?x32x32x64xbf16>, tensor<5x5x64xbf16>) outs(%start : tensor<?x28x28x64xf32>) -> tensor<?x28x28x64xf32>
  %o = tensor.empty(%images) : tensor<?x28x28x64xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n, y, x, c) -> (n, y, x, c)>, affine_map<(n, y, x, c) -> (n, y, x, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<?x28x28x64xf32>) outs(%o : tensor<?x28x28x64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %m = arith.maximumf %a, %none : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x28x28x64xbf16>
  return %r : tensor<?x28x28x64xbf16>
}
