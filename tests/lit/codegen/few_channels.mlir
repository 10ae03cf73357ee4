// Large convolutions of few channels: columns of the window and channels become one dimension of a copy, which is
// multiplied in steps like any other row of channels.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=KERNEL --input-file=%t.kernels/first_dispatch_2_sm_90a.ptx

// The border is part of the copy. It has 7 columns of each row, with room for 4 channels; what is not there is zero.
// CHECK-LABEL: func.func @first
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<8x70x32x32xbf16>)
// CHECK: arith.minsi %{{.*}}, %c27
// CHECK: tensor.extract %arg0
// CHECK: arith.cmpi ult, %{{.*}}, %c28
// CHECK: %[[FILTERS:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<64x7x32xbf16>)
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[ROWS]], %[[FILTERS]] :
// KERNEL-DAG: cp.async.bulk.tensor.4d
// KERNEL-DAG: wgmma.mma_async
func.func @first(%x: tensor<8x3x64x64xbf16>, %f: tensor<64x3x7x7xbf16>) -> tensor<8x64x32x32xf32> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 3, 3] high[0, 0, 3, 3] {
  ^bb0(%n: index, %c: index, %h: index, %w: index):
    tensor.yield %zero : bf16
  } : tensor<8x3x64x64xbf16> to tensor<8x3x70x70xbf16>
  %e = tensor.empty() : tensor<8x64x32x32xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<8x64x32x32xf32>) -> tensor<8x64x32x32xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%p, %f : tensor<8x3x70x70xbf16>, tensor<64x3x7x7xbf16>) outs(%start : tensor<8x64x32x32xf32>) -> tensor<8x64x32x32xf32>
  return %r : tensor<8x64x32x32xf32>
}

// Patches that do not overlap are copied, as many as there are images: a product of matrices, whose filters stay, over one sum.
// CHECK-LABEL: func.func @patches
// CHECK: %[[PATCHES:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<?x14x14x16x16x3xf16>)
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[PATCHES]] {{.*}} into tensor<?x14x14x768xf16>
// CHECK: %[[FILTERS:.*]] = tensor.collapse_shape %arg1 {{.*}} into tensor<768x384xf16>
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[ROWS]], %[[FILTERS]] :
func.func @patches(%x: tensor<?x224x224x3xf16>, %f: tensor<16x16x3x384xf16>, %o: tensor<?x14x14x384xf32>) -> tensor<?x14x14x384xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<16> : tensor<2xi64>}
      ins(%x, %f : tensor<?x224x224x3xf16>, tensor<16x16x3x384xf16>) outs(%o : tensor<?x14x14x384xf32>) -> tensor<?x14x14x384xf32>
  return %r : tensor<?x14x14x384xf32>
}

// Exact products of f32 have no steps to fill, and small ones are over before a copy is.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @exact(%x: tensor<4x64x64x3xf32>, %f: tensor<7x7x3x64xf32>, %o: tensor<4x29x29x64xf32>) -> tensor<4x29x29x64xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %f : tensor<4x64x64x3xf32>, tensor<7x7x3x64xf32>) outs(%o : tensor<4x29x29x64xf32>) -> tensor<4x29x29x64xf32>
  return %r : tensor<4x29x29x64xf32>
}

// CHECK-LABEL: func.func @small
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @small(%x: tensor<1x32x32x3xbf16>, %f: tensor<3x3x3x64xbf16>, %o: tensor<1x30x30x64xf32>) -> tensor<1x30x30x64xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %f : tensor<1x32x32x3xbf16>, tensor<3x3x3x64xbf16>) outs(%o : tensor<1x30x30x64xf32>) -> tensor<1x30x30x64xf32>
  return %r : tensor<1x30x30x64xf32>
}
