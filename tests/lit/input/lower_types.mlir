// Elements of types that kernels do not hold lie in memory as integers, f8 as the bytes that they are; what has no conversion is an error by name.
// RUN: tenon-opt %s --tenon-lower-types --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @widen(
// CHECK-SAME: %[[X:.*]]: tensor<?xi8>) -> tensor<?xf32>
// CHECK: linalg.generic
// CHECK: ^bb0(%[[IN:.*]]: i8, %{{.*}}: f32):
// CHECK: %[[F8:.*]] = arith.bitcast %[[IN]] : i8 to f8E5M2
// CHECK: arith.extf %[[F8]] : f8E5M2 to f32
func.func @widen(%x: tensor<?xf8E5M2>) -> tensor<?xf32> {
  %0 = arith.extf %x : tensor<?xf8E5M2> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @unsigned(
// CHECK-SAME: tensor<4xi8>) -> tensor<2x2xi8>
func.func @unsigned(%x: tensor<4xui8>) -> tensor<2x2xui8> {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xui8> into tensor<2x2xui8>
  return %0 : tensor<2x2xui8>
}

// -----

// Programs have tensors of index.
// CHECK-LABEL: @places(
// CHECK-SAME: %[[X:.*]]: tensor<4xindex>) -> tensor<4xindex>
// CHECK: flow.tensor.bitcast %[[X]] : tensor<4xindex> -> tensor<4xi64>
// CHECK: linalg.generic
// CHECK: %[[R:.*]] = flow.tensor.bitcast %{{.*}} : tensor<4xi64> -> tensor<4xindex>
// CHECK: return %[[R]]
func.func @places(%x: tensor<4xindex>) -> tensor<4xindex> {
  %0 = arith.addi %x, %x : tensor<4xindex>
  return %0 : tensor<4xindex>
}

// -----

// CHECK-LABEL: @nibbles(
// CHECK: linalg.generic
// CHECK-NOT: i4
// CHECK: return
func.func @nibbles(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.trunci %x : tensor<4xi32> to tensor<4xi4>
  %1 = arith.addi %0, %0 : tensor<4xi4>
  %2 = arith.extui %1 : tensor<4xi4> to tensor<4xi32>
  return %2 : tensor<4xi32>
}

// -----

// Bytes behind the text are read where each is an element.
// CHECK-LABEL: @resource(
// CHECK: util.unfoldable_constant dense<[60, -64]> : tensor<2xi8>
func.func @resource() -> tensor<2xf32> {
  %0 = util.unfoldable_constant dense_resource<bytes> : tensor<2xf8E5M2>
  %1 = arith.extf %0 : tensor<2xf8E5M2> to tensor<2xf32>
  return %1 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { bytes: "0x010000003CC0" } } #-}

// -----

func.func @packed_resource() -> tensor<2xi32> {
  // expected-error @+1 {{a constant of type 'tensor<2xi4>' is not supported here: its elements are not in the text; write dense<..>}}
  %0 = util.unfoldable_constant dense_resource<nibbles> : tensor<2xi4>
  %1 = arith.extsi %0 : tensor<2xi4> to tensor<2xi32>
  return %1 : tensor<2xi32>
}
{-# dialect_resources: { builtin: { nibbles: "0x010000003C" } } #-}

// -----

func.func @counts_zeros(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.trunci %x : tensor<4xi32> to tensor<4xi4>
  // expected-error @+1 {{'math.ctlz' is not supported on values of type 'i4'}}
  %1 = math.ctlz %0 : tensor<4xi4>
  %2 = arith.extui %1 : tensor<4xi4> to tensor<4xi32>
  return %2 : tensor<4xi32>
}

// -----

// Two elements to a byte, the first in its low half.
// CHECK-LABEL: @packed(
// CHECK-SAME: tensor<3x4xi8>) -> tensor<3x8xi32>
func.func @packed(%x: tensor<3x8xi4>) -> tensor<3x8xi32> {
  %0 = arith.extsi %x : tensor<3x8xi4> to tensor<3x8xi32>
  return %0 : tensor<3x8xi32>
}

// -----

// A row of an odd length ends with half a byte.
// CHECK-LABEL: @packs(
// CHECK-SAME: tensor<3x5xi8>) -> tensor<3x3xi8>
func.func @packs(%x: tensor<3x5xi8>) -> tensor<3x5xf4E2M1FN> {
  %0 = arith.sitofp %x : tensor<3x5xi8> to tensor<3x5xf32>
  %1 = arith.truncf %0 : tensor<3x5xf32> to tensor<3x5xf4E2M1FN>
  return %1 : tensor<3x5xf4E2M1FN>
}

// -----

// CHECK-LABEL: @pairs(
// CHECK-SAME: %[[X:.*]]: tensor<?x4x2xf32>) -> tensor<?x4x2xf32>
// CHECK: flow.tensor.bitcast %[[X]] : tensor<?x4x2xf32>{%{{.*}}} -> tensor<?x4xi64>
func.func @pairs(%x: tensor<?x4xcomplex<f32>>) -> tensor<?x4xcomplex<f32>> {
  return %x : tensor<?x4xcomplex<f32>>
}

// -----

// Who calls it gets what it was written to return.
// CHECK-LABEL: func.func private @called$inside(
// CHECK-SAME: tensor<4xi8>) -> tensor<4xi8>
// CHECK-LABEL: func.func @called(
// CHECK-SAME: tensor<2xi8>) -> tensor<2xi8>
// CHECK: call @called$inside
// CHECK-LABEL: func.func @calls(
// CHECK: call @called$inside
func.func @called(%x: tensor<4xi4>) -> tensor<4xi4> {
  %0 = arith.addi %x, %x : tensor<4xi4>
  return %0 : tensor<4xi4>
}
func.func @calls(%x: tensor<4xi4>) -> tensor<4xi4> {
  %0 = call @called(%x) : (tensor<4xi4>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}
