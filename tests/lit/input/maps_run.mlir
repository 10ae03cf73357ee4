// iree_linalg_ext.map_load reads where its body says, or takes what the body gives; map_store writes there, or not.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: PASS @load
// CHECK: PASS @store

func.func @load() {
  %x = flow.tensor.dynamic_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> -> tensor<?x?xi32>
  %to = util.unfoldable_constant dense<0> : tensor<3x4xi32>
  %none = arith.constant -1 : i32
  %c1 = arith.constant 1 : index
  %0 = iree_linalg_ext.map_load %x into %to {
  ^bb0(%i: index, %j: index):
    %row = arith.subi %i, %c1 : index
    iree_linalg_ext.yield %row, %j, %none : index, index, i32
  } : tensor<?x?xi32> into tensor<3x4xi32> -> tensor<3x4xi32>
  check.expect_eq_const(%0, dense<[[-1, -1, -1, -1], [1, 2, 3, -1], [4, 5, 6, -1]]> : tensor<3x4xi32>) : tensor<3x4xi32>
  return
}

func.func @store() {
  %x = flow.tensor.dynamic_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> -> tensor<?x?xi32>
  %to = util.unfoldable_constant dense<7> : tensor<3x3xi32>
  %c1 = arith.constant 1 : index
  %0 = iree_linalg_ext.map_store %x into %to {
  ^bb0(%i: index, %j: index):
    %is = arith.cmpi ne, %j, %c1 : index
    iree_linalg_ext.yield %j, %i, %is : index, index, i1
  } : tensor<?x?xi32> into tensor<3x3xi32> -> tensor<3x3xi32>
  check.expect_eq_const(%0, dense<[[1, 4, 7], [7, 7, 7], [3, 6, 7]]> : tensor<3x3xi32>) : tensor<3x3xi32>
  return
}
