// RUN: not tenon-compile %s -o %t.tenon 2>&1 | FileCheck %s
// CHECK: error: 'iree_linalg_ext.map_store' is not supported: no kernel is generated for it

func.func @f(%x: tensor<16xf32>, %to: tensor<4xf32>) -> tensor<4xf32> {
  %c4 = arith.constant 4 : index
  %0 = iree_linalg_ext.map_store %x into %to {
  ^bb0(%i: index):
    %1 = arith.cmpi ult, %i, %c4 : index
    iree_linalg_ext.yield %i, %1 : index, i1
  } : tensor<16xf32> into tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
