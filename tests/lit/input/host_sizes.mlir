// What front ends ask of sizes, and count in other types, is what it comes to: the second slice and the reshape have
// the size of the argument, so that what they read is an operand.
// RUN: tenon-opt %s --tenon-lower-tensors --split-input-file --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func @counted_from_the_end
// CHECK-NOT: arith.select
// CHECK: tensor.expand_shape %{{.*}} output_shape [2, %{{dim.*}}, 3, 4]
func.func @counted_from_the_end(%x: tensor<2x?x12xf32>) -> tensor<2x?x3x4xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %c99 = arith.constant 99 : i64
  %d = tensor.dim %x, %c1 : tensor<2x?x12xf32>
  %n = arith.index_cast %d : index to i64
  %below = arith.cmpi slt, %n, %c0 : i64
  %size = arith.select %below, %c99, %n : i64
  %shape = tensor.from_elements %c2, %size, %c3, %c4 : tensor<4xi64>
  %r = tensor.reshape %x(%shape) : (tensor<2x?x12xf32>, tensor<4xi64>) -> tensor<2x?x3x4xf32>
  return %r : tensor<2x?x3x4xf32>
}

// -----

// CHECK-LABEL: func @slice
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 + 4)>
// CHECK-NOT: tensor.extract
func.func @slice(%x: tensor<?x12xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %d = tensor.dim %x, %c0 : tensor<?x12xf32>
  %n = arith.index_cast %d : index to i64
  %inside = arith.cmpi sge, %n, %zero : i64
  %size = arith.select %inside, %n, %zero : i64
  %m = arith.index_cast %size : i64 to index
  %r = tensor.extract_slice %x[0, 4] [%m, 4] [1, 1] : tensor<?x12xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// A number that is none of a size may be negative; and half of the bits hold no size.
// CHECK-LABEL: func @other_numbers
// CHECK-COUNT-2: arith.select
func.func @other_numbers(%x: tensor<?x12xf32>, %n: i64) -> (i64, i32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %few = arith.constant 0 : i32
  %below = arith.cmpi slt, %n, %zero : i64
  %a = arith.select %below, %zero, %n : i64
  %d = tensor.dim %x, %c0 : tensor<?x12xf32>
  %m = arith.index_cast %d : index to i32
  %short = arith.cmpi slt, %m, %few : i32
  %b = arith.select %short, %few, %m : i32
  return %a, %b : i64, i32
}

// -----

// A select may have a comparison as its condition and as one of its values.
// CHECK-LABEL: func @either
// CHECK: arith.cmpi sgt
// CHECK: arith.select
// CHECK-NOT: arith.select
func.func @either(%x: tensor<?x12xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %d = tensor.dim %x, %c0 : tensor<?x12xf32>
  %below = arith.cmpi slt, %d, %c0 : index
  %large = arith.cmpi sgt, %d, %c5 : index
  %any = arith.select %below, %below, %large : i1
  %n = arith.select %any, %c5, %d : index
  return %n : index
}
