// Filters whose window comes last. Those that the program holds are turned when it is compiled. Others are turned by a
// kernel, or, where there are more of them than places, read as they lie, by patches of the image in their order.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products | FileCheck %s
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=KERNEL

// CHECK-LABEL: func.func @known(
// CHECK: linalg.transpose ins(%arg0
// CHECK: arith.constant dense<2.000000e+00> : tensor<256x3x3x64xf16>
// CHECK-NOT: linalg.transpose
// CHECK: tensor<256x3x3x64xf16>)
func.func @known(%x: tensor<2x64x10x10xf16>) -> tensor<2x256x8x8xf32> {
  %f = arith.constant dense<2.0> : tensor<256x64x3x3xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x256x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<2x256x8x8xf32>) -> tensor<2x256x8x8xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %f : tensor<2x64x10x10xf16>, tensor<256x64x3x3xf16>) outs(%start : tensor<2x256x8x8xf32>) -> tensor<2x256x8x8xf32>
  return %r : tensor<2x256x8x8xf32>
}

// CHECK-LABEL: func.func @more_than_places(
// CHECK-SAME: %[[X:.*]]: tensor<2x64x8x8xf16>, %[[F:.*]]: tensor
// CHECK: %[[LAST:.*]] = linalg.transpose ins(%[[X]] :
// CHECK: %[[PATCHES:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<2x8x8x64x3x3xf16>)
// CHECK: tensor.extract %[[LAST]]
// CHECK: arith.select
// CHECK-DAG: %[[ROWS:.*]] = tensor.collapse_shape %[[PATCHES]] {{.*}} into tensor<2x8x8x576xf16>
// CHECK-DAG: %[[COLUMNS:.*]] = tensor.collapse_shape %[[F]] {{.*}} into tensor<256x576xf16>
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]], %[[COLUMNS]] :
// KERNEL-LABEL: hal.executable.source private @more_than_places_dispatch_1
// KERNEL: tensor<256x576xf16>
func.func @more_than_places(%x: tensor<2x64x8x8xf16>, %f: tensor<256x64x3x3xf16>) -> tensor<2x256x8x8xf32> {
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %w: index):
    tensor.yield %none : f16
  } : tensor<2x64x8x8xf16> to tensor<2x64x10x10xf16>
  %e = tensor.empty() : tensor<2x256x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<2x256x8x8xf32>) -> tensor<2x256x8x8xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %f : tensor<2x64x10x10xf16>, tensor<256x64x3x3xf16>) outs(%start : tensor<2x256x8x8xf32>) -> tensor<2x256x8x8xf32>
  return %r : tensor<2x256x8x8xf32>
}

// CHECK-LABEL: func.func @fewer_than_places(
// CHECK-SAME: %{{.*}}: tensor<8x64x34x34xf16>, %[[F:.*]]: tensor
// CHECK: linalg.transpose ins(%[[F]] :
// KERNEL-LABEL: hal.executable.source private @fewer_than_places_dispatch_1
// KERNEL: name = "short_turns", threads = 128 : i64, width = 8 : i64
func.func @fewer_than_places(%x: tensor<8x64x34x34xf16>, %f: tensor<256x64x3x3xf16>) -> tensor<8x256x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x256x32x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<8x256x32x32xf32>) -> tensor<8x256x32x32xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %f : tensor<8x64x34x34xf16>, tensor<256x64x3x3xf16>) outs(%start : tensor<8x256x32x32xf32>) -> tensor<8x256x32x32xf32>
  return %r : tensor<8x256x32x32xf32>
}
