// Functions of math that no kernel has become arithmetic.
// RUN: tenon-opt %s --tenon-lower-math | FileCheck %s

// CHECK-LABEL: @clampf(
// CHECK-SAME: %[[X:.*]]: f32, %[[LOW:.*]]: f32, %[[HIGH:.*]]: f32
// CHECK: %[[A:.*]] = arith.maximumf %[[X]], %[[LOW]]
// CHECK: arith.minimumf %[[A]], %[[HIGH]]
func.func @clampf(%x: f32, %low: f32, %high: f32) -> f32 {
  %0 = math.clampf %x to [%low, %high] : f32
  return %0 : f32
}

// A constant exponent leaves the factors that it has: x^5 = x^4 * x.
// CHECK-LABEL: @fifth(
// CHECK-COUNT-3: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @fifth(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = arith.constant dense<5> : tensor<4xi32>
  %0 = math.fpowi %x, %n : tensor<4xf32>, tensor<4xi32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @sincos(
// CHECK-DAG: math.sin %
// CHECK-DAG: math.cos %
func.func @sincos(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %s, %c = math.sincos %x : tensor<?xf32>
  return %s, %c : tensor<?xf32>, tensor<?xf32>
}

// Of unknown shape, in a body.
// CHECK-LABEL: @ipowi(
// CHECK: linalg.generic
// CHECK-NOT: math.ipowi
func.func @ipowi(%x: tensor<?xi16>, %n: tensor<?xi16>) -> tensor<?xi16> {
  %0 = math.ipowi %x, %n : tensor<?xi16>
  return %0 : tensor<?xi16>
}
