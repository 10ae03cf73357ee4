// A size that one tensor knows and another one does not: products are not copied as if it were known, and what is not one is said.
// RUN: tenon-compile %s --target=sm_90a --images=ptx --f32-products=tf32 -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=unknown_depth --input=70x64xbf16=1 --input=70x65xbf16=1 | FileCheck %s --check-prefix=DEPTH
// RUN: tenon-run %t.tenon --device=emulator --function=across_twice --input=264x132xf32=1 --input=264x260xf32=1 | FileCheck %s --check-prefix=ACROSS
// RUN: tenon-run %t.tenon --device=emulator --function=unknown_result --input=8xf32=1 --input=1x8xf32=2 | FileCheck %s --check-prefix=RESULT
// RUN: not tenon-run %t.tenon --device=emulator --function=unknown_result --input=8xf32=1 --input=2x8xf32=2 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: tenon-run %t.tenon --device=emulator --function=known_result --input=8xf32=1 --input=1x8xf32=2 | FileCheck %s --check-prefix=RESULT
// RUN: not tenon-run %t.tenon --device=emulator --function=known_result --input=8xf32=1 --input=0x8xf32= 2>&1 | FileCheck %s --check-prefix=NOTHING

// DEPTH: 64x65xf32=[70 70
func.func @unknown_depth(%a: tensor<70x64xbf16>, %b: tensor<?x65xbf16>) -> tensor<64x65xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x65xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x65xf32>) -> tensor<64x65xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<70x64xbf16>, tensor<?x65xbf16>) outs(%f : tensor<64x65xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %p = arith.extf %x : bf16 to f32
    %q = arith.extf %y : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x65xf32>
  return %r : tensor<64x65xf32>
}

// Both lie across in tf32: one is turned, and none is made longer.
// ACROSS: 132x260xf32=[264 264
func.func @across_twice(%a: tensor<?x132xf32>, %b: tensor<264x260xf32>) -> tensor<132x260xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<132x260xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<132x260xf32>) -> tensor<132x260xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x132xf32>, tensor<264x260xf32>) outs(%f : tensor<132x260xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<132x260xf32>
  return %r : tensor<132x260xf32>
}

// RESULT: 1x8xf32=[3 3 3 3 3 3 3 3]
// WRONG: dimension 0 of argument 1
func.func @unknown_result(%x: tensor<8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?x8xf32>
  %a = tensor.expand_shape %x [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<1x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.addf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
// NOTHING: dimension 0 of argument 1 is not 1 (argument 1: 0)
func.func @known_result(%x: tensor<8xf32>, %b: tensor<?x8xf32>) -> tensor<1x8xf32> {
  %a = tensor.expand_shape %x [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<1x8xf32>, tensor<?x8xf32>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.addf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}
