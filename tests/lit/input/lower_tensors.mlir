// Operations that make and move tensors become linalg.generic: an operand where an indexing map says what is read, else
// tensor.extract in the body.
// RUN: tenon-opt %s --tenon-lower-tensors --split-input-file --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: @slice(
// CHECK-SAME: %[[X:.*]]: tensor<10x8xf32>
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + 1, d1 + 3)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME: ins(%[[X]] : tensor<10x8xf32>)
// CHECK-NOT: tensor.extract
func.func @slice(%x: tensor<10x8xf32>) -> tensor<4x5xf32> {
  %0 = tensor.extract_slice %x[1, 3] [4, 5] [2, 1] : tensor<10x8xf32> to tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Where it starts, only the host knows.
// CHECK-LABEL: @slice_at(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[AT:.*]]: index, %[[N:.*]]: index
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[P:.*]] = arith.addi %[[I]], %[[AT]]
// CHECK: tensor.extract %[[X]][%[[P]]]
func.func @slice_at(%x: tensor<?xf32>, %at: index, %n: index) -> tensor<?xf32> {
  %0 = tensor.extract_slice %x[%at] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// What lies outside is never read: the place is brought into the tensor, then a value is chosen.
// CHECK-LABEL: @pad(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK: linalg.generic
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: arith.minsi
// CHECK: %[[P:.*]] = arith.maxsi
// CHECK: %[[E:.*]] = tensor.extract %[[X]][%[[P]]]
// CHECK: arith.select %[[INSIDE]], %[[E]]
func.func @pad(%x: tensor<?xf32>, %v: f32) -> tensor<?xf32> {
  %0 = tensor.pad %x low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @softmax(
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: linalg.softmax
func.func @softmax(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Another shape moves no memory.
// CHECK-LABEL: @reshape(
// CHECK: flow.tensor.reshape
// CHECK-NOT: linalg.generic
func.func @reshape(%x: tensor<?xf32>, %a: index) -> tensor<?x4xf32> {
  %c4 = arith.constant 4 : index
  %s = tensor.from_elements %a, %c4 : tensor<2xindex>
  %0 = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Each element looks for the slice that names it.
// CHECK-LABEL: @scatter(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: arith.cmpi eq
// CHECK: arith.select
func.func @scatter(%x: tensor<4xf32>, %u: tensor<2x1xf32>, %i: tensor<2x1xi32>) -> tensor<4xf32> {
  %0 = tensor.scatter %u into %x[%i] scatter_dims([0]) unique : (tensor<2x1xf32>, tensor<4xf32>, tensor<2x1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// There is none of integers: left as it is, and refused by name later.
// CHECK-LABEL: @softmax_of_integers(
// CHECK: linalg.softmax
func.func @softmax_of_integers(%x: tensor<4x8xi32>, %e: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xi32>) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
