// RUN: not tenon-compile %s -o %t.tenon 2>&1 | FileCheck %s
// CHECK: error: 'iree_linalg_ext.map_store' is not supported: no kernel is generated for it

func.func @f(%x: tensor<f32>, %to: tensor<4xf32>) -> tensor<4xf32> {
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  %0 = iree_linalg_ext.map_store %x into %to {
    iree_linalg_ext.yield %c2, %true : index, i1
  } : tensor<f32> into tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
