// The gradient by the filters of each channel for itself: a thread has all results of two channels. Images are parts, and
// rows of them, which one kernel adds up.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.kernels/each_dispatch_0_sm_90a.ptx

// What is outside of the image is not read, and what is inside two channels at a time.
// PTX: @%p{{[0-9]+}} ld.global.nc.b32
// CHECK: func.func @each_dispatch_0({{.*}}) -> tensor<8x32x3x3x64xf32>
// CHECK-SAME: tenon.strategy = {name = "channel_filters", threads = 256 : i64}
// CHECK: func.func @each_dispatch_1(%arg0: tensor<8x32x3x3x64xf32>) -> tensor<3x3x64xf32>
// CHECK-SAME: name = "columns"
// CHECK-NOT: @each_dispatch_2
func.func @each(%x: tensor<32x56x56x64xbf16>, %d: tensor<32x56x56x64xbf16>) -> tensor<3x3x64xf32> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : bf16
  } : tensor<32x56x56x64xbf16> to tensor<32x58x58x64xbf16>
  %e = tensor.empty() : tensor<3x3x64xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<3x3x64xf32>) -> tensor<3x3x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(r, s, c, n, y, x) -> (n, y + r, x + s, c)>,
      affine_map<(r, s, c, n, y, x) -> (n, y, x, c)>, affine_map<(r, s, c, n, y, x) -> (r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %d : tensor<32x58x58x64xbf16>, tensor<32x56x56x64xbf16>) outs(%start : tensor<3x3x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<3x3x64xf32>
  return %r : tensor<3x3x64xf32>
}
