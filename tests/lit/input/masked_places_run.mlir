// Gathers and scatters of slices that a mask says are there: what is not keeps what stood there, whatever its index is.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon | FileCheck %s
// CHECK: 6 functions: 7 expectations hold, 0 failed

func.func @gathered() {
  %source = util.unfoldable_constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %places = util.unfoldable_constant dense<[[2], [7], [0], [-3]]> : tensor<4x1xi32>
  %mask = util.unfoldable_constant dense<[true, false, true, false]> : tensor<4xi1>
  %old = util.unfoldable_constant dense<9.0> : tensor<4x2xf32>
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%source, %places, %mask : tensor<3x2xf32>, tensor<4x1xi32>, tensor<4xi1>)
      outs(%old : tensor<4x2xf32>) -> tensor<4x2xf32>
  check.expect_eq_const(%0, dense<[[5.0, 6.0], [9.0, 9.0], [1.0, 2.0], [9.0, 9.0]]> : tensor<4x2xf32>) : tensor<4x2xf32>
  return
}

// Indices without a dimension of their own, of an unknown number.
func.func @gathered_of_unknown_number() {
  %source = util.unfoldable_constant dense<[10, 20, 30]> : tensor<3xi64>
  %places = flow.tensor.dynamic_constant dense<[2, 1, 0]> : tensor<3xi64> -> tensor<?xi64>
  %mask = flow.tensor.dynamic_constant dense<[true, false, true]> : tensor<3xi1> -> tensor<?xi1>
  %old = flow.tensor.dynamic_constant dense<[-1, -2, -3]> : tensor<3xi64> -> tensor<?xi64>
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%source, %places, %mask : tensor<3xi64>, tensor<?xi64>, tensor<?xi1>)
      outs(%old : tensor<?xi64>) -> tensor<?xi64>
  %1 = tensor.cast %0 : tensor<?xi64> to tensor<3xi64>
  check.expect_eq_const(%1, dense<[30, -2, 10]> : tensor<3xi64>) : tensor<3xi64>
  return
}

// Two updates of one place, of which one is there; and sums of those that are.
func.func @scattered() {
  %updates = util.unfoldable_constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %places = util.unfoldable_constant dense<[[1], [1], [0]]> : tensor<3x1xi32>
  %mask = util.unfoldable_constant dense<[true, false, true]> : tensor<3xi1>
  %old = util.unfoldable_constant dense<10.0> : tensor<4x2xf32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%updates, %places, %mask : tensor<3x2xf32>, tensor<3x1xi32>, tensor<3xi1>) outs(%old : tensor<4x2xf32>) {
  ^bb0(%new: f32, %before: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<4x2xf32>
  check.expect_eq_const(%0, dense<[[5.0, 6.0], [1.0, 2.0], [10.0, 10.0], [10.0, 10.0]]> : tensor<4x2xf32>) : tensor<4x2xf32>
  %1 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false)
      ins(%updates, %places, %mask : tensor<3x2xf32>, tensor<3x1xi32>, tensor<3xi1>) outs(%old : tensor<4x2xf32>) {
  ^bb0(%new: f32, %before: f32):
    %2 = arith.addf %new, %before : f32
    iree_linalg_ext.yield %2 : f32
  } -> tensor<4x2xf32>
  check.expect_eq_const(%1, dense<[[15.0, 16.0], [11.0, 12.0], [10.0, 10.0], [10.0, 10.0]]> : tensor<4x2xf32>) : tensor<4x2xf32>
  return
}

// A cache of two pages: where each token goes is a page and a place, and tokens behind the last are no tokens.
func.func @two_coordinates() {
  %updates = util.unfoldable_constant dense<[[7, 8], [9, 10]]> : tensor<2x2xi16>
  %places = util.unfoldable_constant dense<[[[1, 0], [0, 2]], [[0, 1], [1, 1]]]> : tensor<2x2x2xi64>
  %mask = util.unfoldable_constant dense<[[true, true], [true, false]]> : tensor<2x2xi1>
  %old = util.unfoldable_constant dense<0> : tensor<2x3xi16>
  %0 = iree_linalg_ext.scatter dimension_map = [0, 1] unique_indices(true)
      ins(%updates, %places, %mask : tensor<2x2xi16>, tensor<2x2x2xi64>, tensor<2x2xi1>) outs(%old : tensor<2x3xi16>) {
  ^bb0(%new: i16, %before: i16):
    iree_linalg_ext.yield %new : i16
  } -> tensor<2x3xi16>
  check.expect_eq_const(%0, dense<[[0, 9, 8], [7, 0, 0]]> : tensor<2x3xi16>) : tensor<2x3xi16>
  return
}

// A slice of several rows that is not there does not reach into the tensor, either, whatever the type of its index.
func.func @scattered_slices_of_rows() {
  %updates = util.unfoldable_constant dense<7.0> : tensor<2x200x2xf32>
  %places = util.unfoldable_constant dense<[[3], [0]]> : tensor<2x1xi8>
  %mask = util.unfoldable_constant dense<[false, false]> : tensor<2xi1>
  %old = util.unfoldable_constant dense<1.0> : tensor<205x2xf32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%updates, %places, %mask : tensor<2x200x2xf32>, tensor<2x1xi8>, tensor<2xi1>) outs(%old : tensor<205x2xf32>) {
  ^bb0(%new: f32, %before: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<205x2xf32>
  check.expect_eq_const(%0, dense<1.0> : tensor<205x2xf32>) : tensor<205x2xf32>
  return
}

// One update, whose indices have no dimension of their own.
func.func @scattered_one() {
  %updates = util.unfoldable_constant dense<[[7.0, 8.0]]> : tensor<1x2xf32>
  %places = util.unfoldable_constant dense<[1]> : tensor<1xi32>
  %mask = util.unfoldable_constant dense<true> : tensor<1xi1>
  %old = util.unfoldable_constant dense<1.0> : tensor<3x2xf32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%updates, %places, %mask : tensor<1x2xf32>, tensor<1xi32>, tensor<1xi1>) outs(%old : tensor<3x2xf32>) {
  ^bb0(%new: f32, %before: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<3x2xf32>
  check.expect_eq_const(%0, dense<[[1.0, 1.0], [7.0, 8.0], [1.0, 1.0]]> : tensor<3x2xf32>) : tensor<3x2xf32>
  return
}
