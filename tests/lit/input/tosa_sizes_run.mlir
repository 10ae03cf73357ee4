// Sizes that only an operand or only the result knows: MLIR's conversions want both to know the same.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: 7 functions: 7 expectations hold, 0 failed

func.func @gather() {
  %x = flow.tensor.dynamic_constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32> -> tensor<?x?x1xf32>
  %i = util.unfoldable_constant dense<[[2, 0]]> : tensor<1x2xi32>
  %r = tosa.gather %x, %i : (tensor<?x?x1xf32>, tensor<1x2xi32>) -> tensor<?x2x1xf32>
  %s = tensor.cast %r : tensor<?x2x1xf32> to tensor<1x2x1xf32>
  check.expect_eq_const(%s, dense<[[[3.0], [1.0]]]> : tensor<1x2x1xf32>) : tensor<1x2x1xf32>
  return
}

func.func @gather_lines() {
  %x = util.unfoldable_constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>
  %i = flow.tensor.dynamic_constant dense<[[1], [0]]> : tensor<2x1xi32> -> tensor<?x?xi32>
  %r = tosa.gather %x, %i : (tensor<2x2x1xf32>, tensor<?x?xi32>) -> tensor<?x1x?xf32>
  %s = tensor.cast %r : tensor<?x1x?xf32> to tensor<2x1x1xf32>
  check.expect_eq_const(%s, dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>) : tensor<2x1x1xf32>
  return
}

func.func @scatter() {
  %x = flow.tensor.dynamic_constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32> -> tensor<1x3x?xf32>
  %i = util.unfoldable_constant dense<[[2]]> : tensor<1x1xi32>
  %y = util.unfoldable_constant dense<[[[9.0]]]> : tensor<1x1x1xf32>
  %r = tosa.scatter %x, %i, %y : (tensor<1x3x?xf32>, tensor<1x1xi32>, tensor<1x1x1xf32>) -> tensor<1x3x1xf32>
  check.expect_eq_const(%r, dense<[[[1.0], [2.0], [9.0]]]> : tensor<1x3x1xf32>) : tensor<1x3x1xf32>
  return
}

func.func @argmax() {
  %x = flow.tensor.dynamic_constant dense<[[1.0, 7.0, 3.0], [4.0, 5.0, 9.0]]> : tensor<2x3xf32> -> tensor<?x3xf32>
  %r = tosa.argmax %x {axis = 1 : i32} : (tensor<?x3xf32>) -> tensor<2xi32>
  check.expect_eq_const(%r, dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
  return
}

func.func @sum() {
  %x = flow.tensor.dynamic_constant dense<[[1.0, 7.0, 3.0], [4.0, 5.0, 9.0]]> : tensor<2x3xf32> -> tensor<?x3xf32>
  %r = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<?x3xf32>) -> tensor<2x?xf32>
  %s = tensor.cast %r : tensor<2x?xf32> to tensor<2x1xf32>
  check.expect_eq_const(%s, dense<[[11.0], [18.0]]> : tensor<2x1xf32>) : tensor<2x1xf32>
  return
}

func.func @transpose() {
  %x = flow.tensor.dynamic_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> -> tensor<2x?xi32>
  %r = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x?xi32>) -> tensor<3x?xi32>
  %s = tensor.cast %r : tensor<3x?xi32> to tensor<3x2xi32>
  check.expect_eq_const(%s, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  return
}

func.func @reverse() {
  %x = flow.tensor.dynamic_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> -> tensor<?x?xi32>
  %r = tosa.reverse %x {axis = 1 : i32} : (tensor<?x?xi32>) -> tensor<?x3xi32>
  %s = tensor.cast %r : tensor<?x3xi32> to tensor<2x3xi32>
  check.expect_eq_const(%s, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}
