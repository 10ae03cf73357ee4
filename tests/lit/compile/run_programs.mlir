// Whole programs, from tensor code to results on the emulator.
// RUN: tenon-compile %s -o %t.tenon --target=sm_75,sm_90
// RUN: tenon-run %t.tenon --function=scaled_sum --input="2x3xf32=1 2 3 4 5 6" --input=2x3xf32=1 --input=0.5 | FileCheck %s --check-prefix=SUM
// RUN: tenon-run %t.tenon --function=mask --input=6xi32=3 --expected_output="6xi1=0 0 0 1 1 1" --expected_output="6xi32=1 2 3 3 3 3"
// RUN: tenon-run %t.tenon --function=fill --input=5 --input=-12345678901 --input=1.5 --expected_output=5xi64=-12345678901 --expected_output=5xf16=1.5
// RUN: not tenon-run %t.tenon --function=fill --input=-5 --input=1 --input=1.5 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: tenon-run %t.tenon --function=reshaped --input=2x4xf32=1 --input=8xf32=-1 --expected_output=8xf32=0
// RUN: not tenon-run %t.tenon --function=reshaped --input=2x4xf32=1 --input=7xf32=-1 2>&1 | FileCheck %s --check-prefix=DIFFER
// RUN: tenon-run %t.tenon --function=row_sum --input="2x3xf32=1 2 3 4 5 6" --expected_output="2xf32=6 15"
// RUN: tenon-run %t.tenon --function=row_sum --input=2x0xf32= --expected_output="2xf32=0 0"
// RUN: tenon-run %t.tenon --function=row_sum --input=0x3xf32= --expected_output=0xf32=

// Private functions called twice, a float scalar for a kernel, an index result.
// SUM: 2x3xf32=[1 1.5 2][2.5 3 3.5]
// SUM: =6
func.func private @scale(%x: tensor<?x?xf32>, %s: f32) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x?xf32>, f32) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @scaled_sum(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %s: f32) -> (tensor<?x?xf32>, index) {
  %0 = call @scale(%x, %s) : (tensor<?x?xf32>, f32) -> tensor<?x?xf32>
  %1 = call @scale(%y, %s) : (tensor<?x?xf32>, f32) -> tensor<?x?xf32>
  %2 = arith.addf %0, %1 : tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %2, %c0 : tensor<?x?xf32>
  %n = tensor.dim %2, %c1 : tensor<?x?xf32>
  %t = arith.muli %m, %n : index
  return %2, %t : tensor<?x?xf32>, index
}

// A constant tensor, booleans.
func.func @mask(%x: tensor<6xi32>) -> (tensor<6xi1>, tensor<6xi32>) {
  %c = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %m = arith.cmpi slt, %x, %c : tensor<6xi32>
  %s = arith.select %m, %x, %c : tensor<6xi1>, tensor<6xi32>
  return %m, %s : tensor<6xi1>, tensor<6xi32>
}

// Sizes and values from scalars.
// NEGATIVE: dimension 0 of the result is negative (argument 0: -5)
func.func @fill(%n: index, %v: i64, %h: f16) -> (tensor<?xi64>, tensor<?xf16>) {
  %e = tensor.empty(%n) : tensor<?xi64>
  %r = linalg.fill ins(%v : i64) outs(%e : tensor<?xi64>) -> tensor<?xi64>
  %e2 = tensor.empty(%n) : tensor<?xf16>
  %r2 = linalg.fill ins(%h : f16) outs(%e2 : tensor<?xf16>) -> tensor<?xf16>
  return %r, %r2 : tensor<?xi64>, tensor<?xf16>
}

// DIFFER: dimension 0 of argument 1 is not the size of the other operands
func.func @reshaped(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %1 = arith.addf %0, %y : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// A reduction: nothing to add up is zero, no rows is nothing.
func.func @row_sum(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
