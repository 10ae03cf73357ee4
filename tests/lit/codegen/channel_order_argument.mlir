// An image that is an argument, which a convolution reads before a reshape does: both get it with its channels last.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s
// CHECK: flow.dispatch
func.func @f(%a0: tensor<?x32x9x9xf32>, %a1: tensor<32x3x3xf32>, %a2: tensor<32x3x3xf32>) -> (tensor<?x32x1x1xf32>, tensor<?x32x1x1xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %bn = tensor.dim %a0, %c0 : tensor<?x32x9x9xf32>
  %v1 = tensor.empty(%bn) : tensor<?x32x7x7xf32>
  %v2 = linalg.fill ins(%z : f32) outs(%v1 : tensor<?x32x7x7xf32>) -> tensor<?x32x7x7xf32>
  %v3 = linalg.depthwise_conv_2d_nchw_chw ins(%a0, %a1 : tensor<?x32x9x9xf32>, tensor<32x3x3xf32>) outs(%v2 : tensor<?x32x7x7xf32>) -> tensor<?x32x7x7xf32>
  %v4 = tensor.expand_shape %a0 [[0],[1,2],[3],[4]] output_shape [%bn,4,8,9,9] : tensor<?x32x9x9xf32> into tensor<?x4x8x9x9xf32>
  %v5 = tensor.empty(%bn) : tensor<?x4x8x9x9xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3,d4) -> (d0,d1,d2,d3,d4)>,affine_map<(d0,d1,d2,d3,d4) -> (d0,d1,d2,d3,d4)>], iterator_types = ["parallel","parallel","parallel","parallel","parallel"]} ins(%v4 : tensor<?x4x8x9x9xf32>) outs(%v5 : tensor<?x4x8x9x9xf32>) {
 ^bb0(%x0: f32, %o: f32):
  %r = arith.maximumf %x0, %z : f32
 linalg.yield %r : f32 } -> tensor<?x4x8x9x9xf32>
  %v7 = tensor.empty(%bn) : tensor<?x32x7x7xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>,affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%v3 : tensor<?x32x7x7xf32>) outs(%v7 : tensor<?x32x7x7xf32>) {
 ^bb0(%x0: f32, %o: f32):
  %cc = arith.constant 0.05 : f32
  %r = arith.mulf %x0, %cc : f32
 linalg.yield %r : f32 } -> tensor<?x32x7x7xf32>
  %v9 = tensor.empty(%bn) : tensor<?x32x5x5xf32>
  %v10 = linalg.fill ins(%z : f32) outs(%v9 : tensor<?x32x5x5xf32>) -> tensor<?x32x5x5xf32>
  %v11 = linalg.depthwise_conv_2d_nchw_chw ins(%v8, %a2 : tensor<?x32x7x7xf32>, tensor<32x3x3xf32>) outs(%v10 : tensor<?x32x5x5xf32>) -> tensor<?x32x5x5xf32>
  %v12 = tensor.empty(%bn) : tensor<?x32x1x1xf32>
  %v13 = linalg.fill ins(%z : f32) outs(%v12 : tensor<?x32x1x1xf32>) -> tensor<?x32x1x1xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(n,c,u,t,y,x) -> (n,c,y,x)>,affine_map<(n,c,u,t,y,x) -> (n,c,u,t)>], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction"]} ins(%v11 : tensor<?x32x5x5xf32>) outs(%v13 : tensor<?x32x1x1xf32>) {
 ^bb0(%x0: f32, %o: f32):
  %r = arith.addf %x0, %o : f32
   linalg.yield %r : f32 } -> tensor<?x32x1x1xf32>
  %v15 = tensor.empty(%bn) : tensor<?x32x1x1xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>,affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%v14 : tensor<?x32x1x1xf32>) outs(%v15 : tensor<?x32x1x1xf32>) {
 ^bb0(%x0: f32, %o: f32):
  %cc = arith.constant 0.05 : f32
  %r = arith.mulf %x0, %cc : f32
 linalg.yield %r : f32 } -> tensor<?x32x1x1xf32>
  %v17 = tensor.collapse_shape %v6 [[0],[1,2],[3],[4]] : tensor<?x4x8x9x9xf32> into tensor<?x32x9x9xf32>
  %v18 = tensor.empty(%bn) : tensor<?x32x1x1xf32>
  %v19 = linalg.fill ins(%z : f32) outs(%v18 : tensor<?x32x1x1xf32>) -> tensor<?x32x1x1xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(n,c,u,t,y,x) -> (n,c,y,x)>,affine_map<(n,c,u,t,y,x) -> (n,c,u,t)>], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction"]} ins(%v17 : tensor<?x32x9x9xf32>) outs(%v19 : tensor<?x32x1x1xf32>) {
 ^bb0(%x0: f32, %o: f32):
  %r = arith.addf %x0, %o : f32
   linalg.yield %r : f32 } -> tensor<?x32x1x1xf32>
  %v21 = tensor.empty(%bn) : tensor<?x32x1x1xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>,affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%v20 : tensor<?x32x1x1xf32>) outs(%v21 : tensor<?x32x1x1xf32>) {
 ^bb0(%x0: f32, %o: f32):
  %cc = arith.constant 0.02 : f32
  %r = arith.mulf %x0, %cc : f32
 linalg.yield %r : f32 } -> tensor<?x32x1x1xf32>
 return %v16, %v22 : tensor<?x32x1x1xf32>, tensor<?x32x1x1xf32>
}
