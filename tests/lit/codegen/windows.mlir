// Windows that overlap: each result's window is read by one thread, 16 bytes of adjacent results at once. What is
// computed from a result is in the kernel, and so is the border around the image.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 -o %t.tenon
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t.tenon --device=emulator --function=depthwise \
// RUN:   --input=1x3x3x8xf32=2 --input=3x3x8xf32=1 --expected_output="1x3x3x8xf32=[[[[8 8 8 8 8 8 8 8] [12 12 12 12 12 12 12 12] [8 8 8 8 8 8 8 8]] [[12 12 12 12 12 12 12 12] [18 18 18 18 18 18 18 18] [12 12 12 12 12 12 12 12]] [[8 8 8 8 8 8 8 8] [12 12 12 12 12 12 12 12] [8 8 8 8 8 8 8 8]]]]"

// CHECK-LABEL: func.func @depthwise(
// CHECK-COUNT-1: flow.dispatch
// CHECK-NOT: flow.dispatch
// CHECK: return
func.func @depthwise(%i: tensor<1x3x3x8xf32>, %w: tensor<3x3x8xf32>) -> tensor<1x3x3x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %i low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x3x3x8xf32> to tensor<1x5x5x8xf32>
  %e = tensor.empty() : tensor<1x3x3x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x8xf32>) -> tensor<1x3x3x8xf32>
  %c = linalg.depthwise_conv_2d_nhwc_hwc ins(%p, %w : tensor<1x5x5x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x3x3x8xf32>) -> tensor<1x3x3x8xf32>
  %r = arith.maximumf %c, %f : tensor<1x3x3x8xf32>
  return %r : tensor<1x3x3x8xf32>
}

// CHECK-LABEL: func.func @pool(
// CHECK-COUNT-1: flow.dispatch
// CHECK-NOT: flow.dispatch
// CHECK: return
func.func @pool(%i: tensor<2x9x9x24xf16>, %w: tensor<3x3xf16>, %o: tensor<2x4x4x24xf16>) -> tensor<2x4x4x24xf16> {
  %r = linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>} ins(%i, %w : tensor<2x9x9x24xf16>, tensor<3x3xf16>)
      outs(%o : tensor<2x4x4x24xf16>) -> tensor<2x4x4x24xf16>
  return %r : tensor<2x4x4x24xf16>
}

// A convolution with filters is a product of matrices: tensor cores may multiply.
func.func @filters(%i: tensor<2x9x9x16xf16>, %w: tensor<3x3x16x32xf16>, %o: tensor<2x7x7x32xf32>) -> tensor<2x7x7x32xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%i, %w : tensor<2x9x9x16xf16>, tensor<3x3x16x32xf16>) outs(%o : tensor<2x7x7x32xf32>) -> tensor<2x7x7x32xf32>
  return %r : tensor<2x7x7x32xf32>
}

// Windows of one element are a product of matrices, too, with rows that are one dimension.
// CHECK-LABEL: hal.executable.source private @depthwise_dispatch_0
// CHECK: tenon.strategy = {lines = 1 : i64, name = "windows", run = 1 : i64, threads = 256 : i64, width = 4 : i64}
// CHECK-LABEL: hal.executable.source private @pool_dispatch_0
// CHECK: tenon.strategy = {lines = 1 : i64, name = "windows", run = 1 : i64, threads = 256 : i64, width = 8 : i64}
// CHECK-LABEL: hal.executable.source private @filters_dispatch_0
// CHECK: tenon.strategy = {{.*}}name = "contraction"
// CHECK-LABEL: hal.executable.source private @points_dispatch_0
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<2x9x9x64xf16>, tensor<64x128xf16>)
func.func @points(%i: tensor<2x9x9x64xf16>, %w: tensor<1x1x64x128xf16>, %o: tensor<2x9x9x128xf32>) -> tensor<2x9x9x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%i, %w : tensor<2x9x9x64xf16>, tensor<1x1x64x128xf16>) outs(%o : tensor<2x9x9x128xf32>) -> tensor<2x9x9x128xf32>
  return %r : tensor<2x9x9x128xf32>
}

// Of many results a thread computes a tile: what it reads for one of them it has for the others. The last tiles of an
// axis begin in those before.
// CHECK-LABEL: hal.executable.source private @tiles_dispatch_0
// CHECK: tenon.strategy = {lines = 7 : i64, name = "windows", run = 8 : i64, threads = 128 : i64, width = 2 : i64}
func.func @tiles(%i: tensor<8x58x58x144xf16>, %w: tensor<3x3x144xf16>, %o: tensor<8x56x56x144xf16>) -> tensor<8x56x56x144xf16> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%i, %w : tensor<8x58x58x144xf16>, tensor<3x3x144xf16>) outs(%o : tensor<8x56x56x144xf16>) -> tensor<8x56x56x144xf16>
  return %r : tensor<8x56x56x144xf16>
}

// Where windows slide along the last axis, a thread reads words of rows, and its lanes take what they meet.
// CHECK-LABEL: hal.executable.source private @first_dispatch_0
// CHECK: tenon.strategy = {lines = 1 : i64, name = "windows", run = 4 : i64, threads = 256 : i64, width = 8 : i64}
func.func @first(%i: tensor<8x144x58x58xf16>, %w: tensor<144x3x3xf16>, %o: tensor<8x144x56x56xf16>) -> tensor<8x144x56x56xf16> {
  %r = linalg.depthwise_conv_2d_nchw_chw ins(%i, %w : tensor<8x144x58x58xf16>, tensor<144x3x3xf16>) outs(%o : tensor<8x144x56x56xf16>) -> tensor<8x144x56x56xf16>
  return %r : tensor<8x144x56x56xf16>
}

// A channel that makes two of it is no product of matrices; one that makes one has no dimension for it.
// CHECK-LABEL: hal.executable.source private @two_dispatch_0
// CHECK: tenon.strategy = {{.*}}name = "windows"
func.func @two(%i: tensor<2x9x9x16xf16>, %w: tensor<3x3x16x2xf16>, %o: tensor<2x7x7x16x2xf32>) -> tensor<2x7x7x16x2xf32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwcm ins(%i, %w : tensor<2x9x9x16xf16>, tensor<3x3x16x2xf16>) outs(%o : tensor<2x7x7x16x2xf32>) -> tensor<2x7x7x16x2xf32>
  return %r : tensor<2x7x7x16x2xf32>
}
// CHECK-LABEL: hal.executable.source private @one_dispatch_0
// CHECK: tenon.strategy = {{.*}}name = "windows"
// CHECK: tensor<3x3x16xf16>
func.func @one(%i: tensor<2x9x9x16xf16>, %w: tensor<3x3x16x1xf16>, %o: tensor<2x7x7x16x1xf32>) -> tensor<2x7x7x16x1xf32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwcm ins(%i, %w : tensor<2x9x9x16xf16>, tensor<3x3x16x1xf16>) outs(%o : tensor<2x7x7x16x1xf32>) -> tensor<2x7x7x16x1xf32>
  return %r : tensor<2x7x7x16x1xf32>
}
