// TOSA becomes linalg; what no conversion knows is an error at its place.
// RUN: tenon-opt %s --tenon-read-tosa --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @add
// CHECK-NOT: tosa.
// CHECK: linalg.generic
// CHECK: arith.addf
func.func @add(%x: tensor<?x8xf32>, %y: tensor<1x8xf32>) -> tensor<?x8xf32> {
  %0 = tosa.add %x, %y : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @scatter
// CHECK: linalg.generic
// CHECK: iree_linalg_ext.scatter dimension_map = [0, 1] unique_indices(true) ins(%{{.*}}, %{{.*}} : tensor<2x4x3xf32>, tensor<2x4x2xi32>)
func.func @scatter(%x: tensor<2x5x3xf32>, %i: tensor<2x4xi32>, %u: tensor<2x4x3xf32>) -> tensor<2x5x3xf32> {
  %0 = tosa.scatter %x, %i, %u : (tensor<2x5x3xf32>, tensor<2x4xi32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// -----

func.func @custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'tosa.custom' is not supported: there is no conversion to linalg for it with these types}}
  %0 = tosa.custom %x {operator_name = "f", domain_name = "d", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
