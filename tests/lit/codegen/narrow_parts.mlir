// What is made of a product's results is stored in its own narrow type where a concatenation reads it, and where another product's
// kernel does, and not as sums of f32.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s

// CHECK-LABEL: func.func @concat
// CHECK-COUNT-2: flow.dispatch {{.*}} -> tensor<128x64xf16>
// CHECK: flow.dispatch {{.*}}(tensor<128x64xf16>, tensor<128x64xf16>) -> tensor<128x128xf16>
func.func @concat(%a: tensor<128x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64xf16>) -> tensor<128x128xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x64xf16>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
  %q = linalg.matmul ins(%a, %c : tensor<128x64xf16>, tensor<64x64xf16>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
  %h = tensor.empty() : tensor<128x64xf16>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %d : tensor<128x64xf32>, tensor<64xf16>) outs(%h : tensor<128x64xf16>) {
    ^bb0(%s: f32, %t: f16, %o: f16):
      %n = arith.truncf %s : f32 to f16
      %m = arith.addf %n, %t : f16
      linalg.yield %m : f16
  } -> tensor<128x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%q, %d : tensor<128x64xf32>, tensor<64xf16>) outs(%h : tensor<128x64xf16>) {
    ^bb0(%s: f32, %t: f16, %o: f16):
      %n = arith.truncf %s : f32 to f16
      %m = arith.mulf %n, %t : f16
      linalg.yield %m : f16
  } -> tensor<128x64xf16>
  %w = tensor.empty() : tensor<128x128xf16>
  %k64 = arith.constant 64 : index
  %k63 = arith.constant 63 : index
  %k0 = arith.constant 0 : index
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%w : tensor<128x128xf16>) {
    ^bb0(%o: f16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %l = arith.cmpi ult, %j, %k64 : index
      %j0 = arith.minsi %j, %k63 : index
      %u = tensor.extract %x[%i, %j0] : tensor<128x64xf16>
      %j1 = arith.subi %j, %k64 : index
      %j2 = arith.maxsi %j1, %k0 : index
      %v = tensor.extract %y[%i, %j2] : tensor<128x64xf16>
      %g = arith.select %l, %u, %v : f16
      linalg.yield %g : f16
  } -> tensor<128x128xf16>
  return %r : tensor<128x128xf16>
}

// CHECK-LABEL: func.func @sum
// CHECK: flow.dispatch {{.*}} -> tensor<128x64xf16>
// CHECK: flow.dispatch {{.*}} -> tensor<128x64xf16>
// CHECK-NOT: flow.dispatch
func.func @sum(%a: tensor<128x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64xf32>) -> tensor<128x64xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x64xf16>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
  %q = linalg.matmul ins(%a, %c : tensor<128x64xf16>, tensor<64x64xf16>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
  %h = tensor.empty() : tensor<128x64xf16>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %d : tensor<128x64xf32>, tensor<64xf32>) outs(%h : tensor<128x64xf16>) {
    ^bb0(%s: f32, %t: f32, %o: f16):
      %m = arith.addf %s, %t : f32
      %n = arith.truncf %m : f32 to f16
      linalg.yield %n : f16
  } -> tensor<128x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%q, %d : tensor<128x64xf32>, tensor<64xf32>) outs(%h : tensor<128x64xf16>) {
    ^bb0(%s: f32, %t: f32, %o: f16):
      %m = arith.addf %s, %t : f32
      %n = arith.truncf %m : f32 to f16
      linalg.yield %n : f16
  } -> tensor<128x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<128x64xf16>, tensor<128x64xf16>) outs(%h : tensor<128x64xf16>) {
    ^bb0(%s: f16, %t: f16, %o: f16):
      %m = arith.mulf %s, %t : f16
      linalg.yield %m : f16
  } -> tensor<128x64xf16>
  return %r : tensor<128x64xf16>
}
