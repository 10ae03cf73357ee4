// A reduction to few results is two: of parts, and of their results. Where the size has no good divisor or is not known,
// the parts are the first rows, and the second takes in the rows behind them.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s

// 2^20 elements: 256 parts of 4096.
// CHECK-LABEL: func.func @known(
// CHECK: flow.dispatch {{.*}} : (tensor<256x4096xf32>) -> tensor<256xf32>
// CHECK: flow.dispatch {{.*}} : (tensor<256xf32>) -> tensor<f32>
func.func @known(%x: tensor<1048576xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<1048576xf32>) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// A prime number of elements: 256 parts of 4096, and 7 elements behind them.
// CHECK-LABEL: func.func @prime(
// CHECK: flow.tensor.reshape %{{.*}} {tenon.prefix} : tensor<1048583xf32> -> tensor<256x4096xf32>
// CHECK: flow.dispatch {{.*}} : (tensor<256x4096xf32>) -> tensor<256xf32>
// CHECK: flow.dispatch {{.*}} : (tensor<256xf32>, tensor<1048583xf32>) -> tensor<f32>
func.func @prime(%x: tensor<1048583xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<1048583xf32>) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// Rows of unknown number: the host divides them.
// CHECK-LABEL: func.func @unknown(
// CHECK: arith.divui
// CHECK: flow.tensor.reshape {{.*}} {tenon.prefix}
// CHECK: flow.dispatch @unknown_dispatch_0
// CHECK: flow.dispatch @unknown_dispatch_1
func.func @unknown(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %one : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}

// Two tiles of a product are two blocks: the sum is taken apart, and its parts are added where the bias is.
// CHECK-LABEL: func.func @product(
// CHECK: flow.dispatch {{.*}} : (tensor<128x4x512xbf16>, tensor<128x4x512xbf16>) -> tensor<4x128x128xf32>
// CHECK: flow.dispatch {{.*}} : (tensor<4x128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32>
func.func @product(%x: tensor<128x2048xbf16>, %w: tensor<128x2048xbf16>, %bias: tensor<128xf32>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x2048xbf16>, tensor<128x2048xbf16>) outs(%start : tensor<128x128xf32>) {
    ^bb0(%a: bf16, %b: bf16, %s: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %m = arith.mulf %c, %d : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<128x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<128x128xf32>, tensor<128xf32>) outs(%e : tensor<128x128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
