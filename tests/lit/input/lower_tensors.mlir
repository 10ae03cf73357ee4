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

// CHECK-LABEL: @scatter(
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%{{.*}}, %{{.*}} : tensor<2x1xf32>, tensor<2x1xi32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: ^bb0(%[[NEW:.*]]: f32, %{{.*}}: f32):
// CHECK: iree_linalg_ext.yield %[[NEW]]
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

// -----

// A slice that has no dimension for what is named gets one.
// CHECK-LABEL: @scatter_columns(
// CHECK: linalg.generic
// CHECK: iree_linalg_ext.scatter dimension_map = [1] unique_indices(true) ins(%{{.*}}, %{{.*}} : tensor<2x4x1xf32>, tensor<2x1xi32>)
func.func @scatter_columns(%x: tensor<4x9xf32>, %u: tensor<2x4xf32>, %i: tensor<2x1xi32>) -> tensor<4x9xf32> {
  %0 = tensor.scatter %u into %x[%i] scatter_dims([1]) unique : (tensor<2x4xf32>, tensor<4x9xf32>, tensor<2x1xi32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// -----

// CHECK-LABEL: @ext_gather(
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: arith.muli
func.func @ext_gather(%x: tensor<10x10xi32>, %i: tensor<3x1xi32>, %to: tensor<3x10xi32>) -> tensor<3x10xi32> {
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<10x10xi32>, tensor<3x1xi32>) outs(%to : tensor<3x10xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.muli %a, %a : i32
    iree_linalg_ext.yield %1 : i32
  } -> tensor<3x10xi32>
  return %0 : tensor<3x10xi32>
}

// -----

// CHECK-LABEL: @arg_compare(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: %[[FIRST:.*]] = arith.cmpf ogt
// CHECK: linalg.index 1
// CHECK-COUNT-2: arith.select %[[FIRST]]
func.func @arg_compare(%x: tensor<2x6xf32>, %v: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x : tensor<2x6xf32>) outs(%v, %i : tensor<2xf32>, tensor<2xi32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xf32>, tensor<2xi32>
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: @fft(
// CHECK-COUNT-2: math.cos
func.func @fft(%re: tensor<8xf32>, %im: tensor<8xf32>, %s: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = iree_linalg_ext.fft ins(%s : index) outs(%re, %im : tensor<8xf32>, tensor<8xf32>) : tensor<8xf32>, tensor<8xf32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @topk_v2(
// CHECK: iree_linalg_ext.topk dimension(0) ins(
func.func @topk_v2(%x: tensor<10xf32>, %v: tensor<3xf32>) -> tensor<3xf32> {
  %0 = iree_linalg_ext.topk_v2 dimension(0) ins(%x : tensor<10xf32>) outs(%v : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
