// Expectations, read and printed; none is removed.
// RUN: tenon-opt %s --canonicalize --cse | tenon-opt | FileCheck %s

// CHECK-LABEL: func.func @expectations
// CHECK-SAME: (%[[A:.*]]: tensor<2x2xf32>, %[[B:.*]]: tensor<2x2xf32>, %[[I:.*]]: tensor<?xi32>, %[[S:.*]]: i32, %[[N:.*]]: index)
func.func @expectations(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %i: tensor<?xi32>, %s: i32, %n: index) {
  // CHECK-NEXT: check.expect_all_true(%[[I]]) : tensor<?xi32>
  check.expect_all_true(%i) : tensor<?xi32>
  // CHECK-NEXT: check.expect_eq(%[[A]], %[[B]]) : tensor<2x2xf32>
  check.expect_eq(%a, %b) : tensor<2x2xf32>
  // CHECK-NEXT: check.expect_eq_const(%[[I]], dense<[1, 2, 3]> : tensor<3xi32>) : tensor<?xi32>
  check.expect_eq_const(%i, dense<[1, 2, 3]> : tensor<3xi32>) : tensor<?xi32>
  // CHECK-NEXT: check.expect_almost_eq(%[[A]], %[[B]]) : tensor<2x2xf32>
  check.expect_almost_eq(%a, %b) : tensor<2x2xf32>
  // CHECK-NEXT: check.expect_almost_eq(%[[A]], %[[B]], atol 0.00999999977) : tensor<2x2xf32>
  check.expect_almost_eq(%a, %b, atol 1.0e-2) : tensor<2x2xf32>
  // CHECK-NEXT: check.expect_almost_eq(%[[A]], %[[B]], atol 0.00999999977) : tensor<2x2xf32>
  check.expect_almost_eq(%a, %b, 1.0e-2) : tensor<2x2xf32>
  // CHECK-NEXT: check.expect_almost_eq(%[[A]], %[[B]], atol 5.000000e-01, rtol 2.500000e-01) : tensor<2x2xf32>
  check.expect_almost_eq(%a, %b, rtol 0.25, atol 0.5) : tensor<2x2xf32>
  // CHECK-NEXT: check.expect_almost_eq_const(%[[A]], dense<1.000000e+00> : tensor<2x2xf32>, rtol 5.000000e-01) : tensor<2x2xf32>
  check.expect_almost_eq_const(%a, dense<1.0> : tensor<2x2xf32>, rtol 0.5) : tensor<2x2xf32>
  // CHECK-NEXT: check.expect_true(%[[S]]) : i32
  check.expect_true(%s) : i32
  // CHECK-NEXT: check.expect_false(%[[N]]) : index
  check.expect_false(%n) : index
  return
}
