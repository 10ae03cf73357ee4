// Reshapes to sizes that the host made of those of the tensor: where these say which dimensions are taken together or divided, both
// sides can see it.
// RUN: tenon-opt %s --tenon-lower-tensors | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] : tensor<?x8x128x?xbf16> into tensor<?x1024x?xbf16>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] output_shape [%{{.*}}, %{{.*}}, 32, 4] : tensor<?x?x128xbf16> into tensor<?x?x32x4xbf16>
// A size that comes from elsewhere may be another number.
// CHECK: flow.tensor.reshape %{{.*}} : tensor<?x8x128x?xbf16>{{.*}} -> tensor<?x?xbf16>
// CHECK-NOT: reshape
func.func @f(%x: tensor<?x8x?x128xbf16>, %n: index) -> (tensor<?x1024x?xbf16>, tensor<?x?x32x4xbf16>, tensor<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x8x?x128xbf16>
  %d2 = tensor.dim %x, %c2 : tensor<?x8x?x128xbf16>
  %i0 = arith.index_cast %d0 : index to i64
  %i2 = arith.index_cast %d2 : index to i64
  %c1024 = arith.constant 1024 : i64
  %c32 = arith.constant 32 : i64
  %c4 = arith.constant 4 : i64
  %ni = arith.index_cast %n : index to i64
  %e = tensor.empty(%d0, %d2) : tensor<?x8x128x?xbf16>
  %t = linalg.transpose ins(%x : tensor<?x8x?x128xbf16>) outs(%e : tensor<?x8x128x?xbf16>) permutation = [0, 1, 3, 2]
  %s1 = tensor.from_elements %i0, %c1024, %i2 : tensor<3xi64>
  %r1 = tensor.reshape %t(%s1) : (tensor<?x8x128x?xbf16>, tensor<3xi64>) -> tensor<?x1024x?xbf16>
  %e2 = tensor.empty(%d0, %d2) : tensor<?x?x128xbf16>
  %red = linalg.generic {indexing_maps = [affine_map<(a,b,c,d) -> (a,b,c,d)>, affine_map<(a,b,c,d) -> (a,c,d)>], iterator_types = ["parallel","reduction","parallel","parallel"]} ins(%x : tensor<?x8x?x128xbf16>) outs(%e2 : tensor<?x?x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.maximumf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?x?x128xbf16>
  %s2 = tensor.from_elements %i0, %i2, %c32, %c4 : tensor<4xi64>
  %r2 = tensor.reshape %red(%s2) : (tensor<?x?x128xbf16>, tensor<4xi64>) -> tensor<?x?x32x4xbf16>
  %s3 = tensor.from_elements %ni, %i2 : tensor<2xi64>
  %r3 = tensor.reshape %t(%s3) : (tensor<?x8x128x?xbf16>, tensor<2xi64>) -> tensor<?x?xbf16>
  return %r1, %r2, %r3 : tensor<?x1024x?xbf16>, tensor<?x?x32x4xbf16>, tensor<?x?xbf16>
}
