// 0x3 seen as 0x16x3 is 0x48 where the last two are one: the sizes that are left open are not those of before.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s

// CHECK-LABEL: func.func @there_and_further
// CHECK: %[[size:.*]] = arith.muli
// CHECK: %[[empty:.*]] = tensor.empty(%[[size]]) : tensor<0x?xf32>
// CHECK: return %[[empty]]
func.func @there_and_further(%x: tensor<0x?xf32>) -> tensor<0x?xf32> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<0x?xf32>
  %1 = tensor.expand_shape %x [[0, 1], [2]] output_shape [0, 16, %d] : tensor<0x?xf32> into tensor<0x16x?xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<0x16x?xf32> into tensor<0x?xf32>
  return %2 : tensor<0x?xf32>
}
