// A convolution of channels last is one kernel with its border: on Hopper tensor maps bring patches of the image.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=PLAN
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=HOPPER --input-file=%t.kernels/strided_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=AMPERE --input-file=%t.kernels/strided_dispatch_0_sm_80.ptx

// PLAN: tensor_map<binding = 1, {{[0-9]+}}x{{[0-9]+}}x{{[0-9]+}}x64xbf16, element_strides = [1, 2, 2, 1]
// PLAN: func.func @strided_dispatch_0(
// PLAN-NOT: @strided_dispatch_1
// HOPPER-DAG: cp.async.bulk.tensor.4d
// HOPPER-DAG: wgmma.mma_async
// AMPERE-DAG: cp.async.cg.shared.global
// AMPERE-DAG: mma.sync
func.func @strided(%x: tensor<4x14x14x64xbf16>, %f: tensor<3x3x64x128xbf16>) -> tensor<4x7x7x128xf32> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : bf16
  } : tensor<4x14x14x64xbf16> to tensor<4x16x16x64xbf16>
  %e = tensor.empty() : tensor<4x7x7x128xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<4x7x7x128xf32>) -> tensor<4x7x7x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%p, %f : tensor<4x16x16x64xbf16>, tensor<3x3x64x128xbf16>) outs(%start : tensor<4x7x7x128xf32>) -> tensor<4x7x7x128xf32>
  return %r : tensor<4x7x7x128xf32>
}

// A border of ones is stored: copies bring zeros.
// PLAN: func.func @ones_dispatch_0(
// PLAN: func.func @ones_dispatch_1(
func.func @ones(%x: tensor<4x14x14x64xbf16>, %f: tensor<3x3x64x128xbf16>) -> tensor<4x14x14x128xf32> {
  %one = arith.constant 1.0 : bf16
  %none = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %one : bf16
  } : tensor<4x14x14x64xbf16> to tensor<4x16x16x64xbf16>
  %e = tensor.empty() : tensor<4x14x14x128xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<4x14x14x128xf32>) -> tensor<4x14x14x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %f : tensor<4x16x16x64xbf16>, tensor<3x3x64x128xbf16>) outs(%start : tensor<4x14x14x128xf32>) -> tensor<4x14x14x128xf32>
  return %r : tensor<4x14x14x128xf32>
}
