// Convolutions in groups of few channels: one kernel, with many groups of a patch at once.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: tenon-compile %s --target=sm_90a --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: cat %t/*sm_90a.ptx | FileCheck %s --check-prefix=PTX

#image = affine_map<(n, h, w, g, f, r, s, c) -> (n, h + r, w + s, g, c)>
#filters = affine_map<(n, h, w, g, f, r, s, c) -> (g, f, r, s, c)>
#result = affine_map<(n, h, w, g, f, r, s, c) -> (n, h, w, g, f)>

// Lines of the image are copied 16 bytes at a time, and a step of tensor cores has one group's channels alone.
// PTX: cp.async.cg.shared.global
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

// CHECK-LABEL: hal.executable.source private @few_dispatch_0
// CHECK: tenon.strategy = {name = "grouped", threads = 256 : i64}
// CHECK-NOT: hal.executable.source private @few_dispatch_1
func.func @few(%x: tensor<2x16x16x32x4xbf16>, %w: tensor<32x4x3x3x4xbf16>) -> tensor<2x14x14x32x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x14x14x32x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x14x14x32x4xf32>) -> tensor<2x14x14x32x4xf32>
  %p = linalg.generic {indexing_maps = [#image, #filters, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<2x16x16x32x4xbf16>, tensor<32x4x3x3x4xbf16>) outs(%f : tensor<2x14x14x32x4xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x14x14x32x4xf32>
  return %p : tensor<2x14x14x32x4xf32>
}

// Groups of 64 channels are products like any other.
// CHECK-LABEL: hal.executable.source private @many_dispatch_0
// CHECK: name = "contraction"
func.func @many(%x: tensor<2x14x14x2x64xbf16>, %w: tensor<2x64x3x3x64xbf16>) -> tensor<2x12x12x2x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x12x12x2x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x12x12x2x64xf32>) -> tensor<2x12x12x2x64xf32>
  %p = linalg.generic {indexing_maps = [#image, #filters, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<2x14x14x2x64xbf16>, tensor<2x64x3x3x64xbf16>) outs(%f : tensor<2x12x12x2x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x12x12x2x64xf32>
  return %p : tensor<2x12x12x2x64xf32>
}

// The gradient by the filters: images are parts, and tensor cores sum over the places of each, sixteen at a time.
// PTX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-LABEL: hal.executable.source private @by_filters_dispatch_0
// CHECK: tenon.strategy = {name = "grouped_filters", threads = 256 : i64}
// CHECK: tensor<2x32x4x3x3x4xf32>
// CHECK-LABEL: hal.executable.source private @by_filters_dispatch_1
// CHECK: name = "columns"
#read = affine_map<(g, f, r, s, c, n, h, w) -> (n, h + r, w + s, g, c)>
#given = affine_map<(g, f, r, s, c, n, h, w) -> (n, h, w, g, f)>
#sums = affine_map<(g, f, r, s, c, n, h, w) -> (g, f, r, s, c)>
func.func @by_filters(%x: tensor<2x16x16x32x4xbf16>, %y: tensor<2x14x14x32x4xbf16>) -> tensor<32x4x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x4x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x4x3x3x4xf32>) -> tensor<32x4x3x3x4xf32>
  %p = linalg.generic {indexing_maps = [#read, #given, #sums], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %y : tensor<2x16x16x32x4xbf16>, tensor<2x14x14x32x4xbf16>) outs(%f : tensor<32x4x3x3x4xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<32x4x3x3x4xf32>
  return %p : tensor<32x4x3x3x4xf32>
}
