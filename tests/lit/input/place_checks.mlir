// Where a slice lies and how large parts are is asserted in front of the operation, unless the types say so.
// RUN: tenon-opt %s --tenon-lower-tensors | FileCheck %s

// CHECK-LABEL: func.func @known
// CHECK-NOT: cf.assert
func.func @known(%x: tensor<8x?xf32>, %y: tensor<4xf32>, %z: tensor<8xf32>, %v: f32) -> (tensor<4x?xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<8x?xf32>
  %0 = tensor.extract_slice %x[2, 0] [4, %n] [1, 1] : tensor<8x?xf32> to tensor<4x?xf32>
  %1 = tensor.insert_slice %y into %z[1] [4] [2] : tensor<4xf32> into tensor<8xf32>
  %2 = tensor.insert %v into %z[%c1] : tensor<8xf32>
  return %0, %1, %2 : tensor<4x?xf32>, tensor<8xf32>, tensor<8xf32>
}

// What was brought inside needs no assertion.
// CHECK-LABEL: func.func @inside
// CHECK-NOT: cf.assert
func.func @inside(%x: tensor<8xf32>, %y: tensor<3xf32>, %given: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %i = arith.index_cast %given : i32 to index
  %low = arith.maxsi %i, %c0 : index
  %at = arith.minsi %low, %c5 : index
  %0 = tensor.insert_slice %y into %x[%at] [3] [1] : tensor<3xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}

// One step further it is not: the last of three elements may lie behind.
// CHECK-LABEL: func.func @nearly
// CHECK: cf.assert %{{.*}}, "tensor.insert_slice ends behind the end of dimension 0"
func.func @nearly(%x: tensor<8xf32>, %y: tensor<3xf32>, %given: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %i = arith.index_cast %given : i32 to index
  %low = arith.maxsi %i, %c0 : index
  %at = arith.minsi %low, %c6 : index
  %0 = tensor.insert_slice %y into %x[%at] [3] [1] : tensor<3xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @slice
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[AT:.*]]: index
// CHECK: %[[POSITIVE:.*]] = arith.cmpi sgt, %[[AT]], %{{.*}} : index
// CHECK: cf.assert %[[POSITIVE]], "offset of dimension 0 of tensor.extract_slice is negative"
// CHECK: %[[LAST:.*]] = arith.addi %[[AT]], %{{.*}} : index
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[LAST]], %{{.*}} : index
// CHECK: cf.assert %[[INSIDE]], "tensor.extract_slice ends behind the end of dimension 0"
// CHECK-NOT: cf.assert
func.func @slice(%x: tensor<?xf32>, %at: index) -> tensor<4xf32> {
  %0 = tensor.extract_slice %x[%at] [4] [1] : tensor<?xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// In a loop each turn asks.
// CHECK-LABEL: func.func @turns
// CHECK: scf.for
// CHECK: cf.assert %{{.*}}, "offset of dimension 0 of tensor.insert_slice is negative"
// CHECK: cf.assert %{{.*}}, "tensor.insert_slice ends behind the end of dimension 0"
func.func @turns(%x: tensor<8xf32>, %y: tensor<2xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %0 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %x) -> tensor<8xf32> {
    %b = tensor.insert_slice %y into %a[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
