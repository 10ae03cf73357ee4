// Values that a program only moves, to places that it computes: an attention of many queries, or of who knows how many, reads
// them from where they are stored, since tiles of them are brought in; one of few queries reads them where they came from.
// RUN: split-file %s %t
// RUN: tenon-opt %t/many.mlir --tenon-form-dispatches | FileCheck %s --check-prefix=MANY
// RUN: tenon-opt %t/few.mlir --tenon-form-dispatches | FileCheck %s --check-prefix=FEW

// MANY: flow.dispatch @many_dispatch_0
// MANY: flow.dispatch @many_dispatch_1
// FEW: flow.dispatch @few_dispatch_0
// FEW-NOT: flow.dispatch

//--- many.mlir
#rows = affine_map<(h, q, k, d) -> (q, h, d)>
#keys = affine_map<(h, q, k, d) -> (k, h, d)>
#scores = affine_map<(h, q, k, d) -> (h, q, k)>
#weights = affine_map<(h, q, d, k) -> (h, q, k)>
#values = affine_map<(h, q, d, k) -> (k, h, d)>
#made = affine_map<(h, q, d, k) -> (h, q, d)>
func.func @many(%q: tensor<?x12x64xbf16>, %k: tensor<?x12x64xbf16>, %qkv: tensor<?x2304xbf16>) -> tensor<12x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1536 = arith.constant 1536 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x12x64xbf16>
  %m = tensor.dim %k, %c0 : tensor<?x12x64xbf16>
  %e0 = tensor.empty(%m) : tensor<?x12x64xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(k, h, d) -> (k, h, d)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e0 : tensor<?x12x64xbf16>) {
  ^bb0(%o: bf16):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = linalg.index 2 : index
    %3 = arith.muli %1, %c64 : index
    %4 = arith.addi %3, %2 : index
    %5 = arith.addi %4, %c1536 : index
    %6 = tensor.extract %qkv[%0, %5] : tensor<?x2304xbf16>
    linalg.yield %6 : bf16
  } -> tensor<?x12x64xbf16>
  %e1 = tensor.empty(%n, %m) : tensor<12x?x?xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<12x?x?xf32>) -> tensor<12x?x?xf32>
  %s = linalg.generic {indexing_maps = [#rows, #keys, #scores], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<?x12x64xbf16>, tensor<?x12x64xbf16>) outs(%f1 : tensor<12x?x?xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<12x?x?xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<12x?x?xf32>) outs(%e1 : tensor<12x?x?xf32>) -> tensor<12x?x?xf32>
  %e2 = tensor.empty(%n) : tensor<12x?x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x?x64xf32>) -> tensor<12x?x64xf32>
  %r = linalg.generic {indexing_maps = [#weights, #values, #made], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<12x?x?xf32>, tensor<?x12x64xbf16>) outs(%f2 : tensor<12x?x64xf32>) {
  ^bb0(%a: f32, %b: bf16, %c: f32):
    %0 = arith.truncf %a : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<12x?x64xf32>
  return %r : tensor<12x?x64xf32>
}

//--- few.mlir
#rows = affine_map<(h, q, k, d) -> (q, h, d)>
#keys = affine_map<(h, q, k, d) -> (k, h, d)>
#scores = affine_map<(h, q, k, d) -> (h, q, k)>
#weights = affine_map<(h, q, d, k) -> (h, q, k)>
#values = affine_map<(h, q, d, k) -> (k, h, d)>
#made = affine_map<(h, q, d, k) -> (h, q, d)>
func.func @few(%q: tensor<4x12x64xbf16>, %k: tensor<?x12x64xbf16>, %qkv: tensor<?x2304xbf16>) -> tensor<12x4x64xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1536 = arith.constant 1536 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %k, %c0 : tensor<?x12x64xbf16>
  %e0 = tensor.empty(%m) : tensor<?x12x64xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(k, h, d) -> (k, h, d)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e0 : tensor<?x12x64xbf16>) {
  ^bb0(%o: bf16):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = linalg.index 2 : index
    %3 = arith.muli %1, %c64 : index
    %4 = arith.addi %3, %2 : index
    %5 = arith.addi %4, %c1536 : index
    %6 = tensor.extract %qkv[%0, %5] : tensor<?x2304xbf16>
    linalg.yield %6 : bf16
  } -> tensor<?x12x64xbf16>
  %e1 = tensor.empty(%m) : tensor<12x4x?xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<12x4x?xf32>) -> tensor<12x4x?xf32>
  %s = linalg.generic {indexing_maps = [#rows, #keys, #scores], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x12x64xbf16>, tensor<?x12x64xbf16>) outs(%f1 : tensor<12x4x?xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<12x4x?xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<12x4x?xf32>) outs(%e1 : tensor<12x4x?xf32>) -> tensor<12x4x?xf32>
  %e2 = tensor.empty() : tensor<12x4x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x4x64xf32>) -> tensor<12x4x64xf32>
  %r = linalg.generic {indexing_maps = [#weights, #values, #made], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<12x4x?xf32>, tensor<?x12x64xbf16>) outs(%f2 : tensor<12x4x64xf32>) {
  ^bb0(%a: f32, %b: bf16, %c: f32):
    %0 = arith.truncf %a : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<12x4x64xf32>
  return %r : tensor<12x4x64xf32>
}

