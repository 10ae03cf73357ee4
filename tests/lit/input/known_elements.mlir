// Tensors whose elements are all one number that is known: filled, not computed, and read by nobody at run time.
// RUN: tenon-opt %s --tenon-lower-tensors --canonicalize | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon --print-statistics 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: tenon-run %t.tenon --device=emulator --function=corrected --input=2xf32=4,-12 | FileCheck %s --check-prefix=RESULT

// RUN: tenon-run %t.tenon --device=emulator --function=resource | FileCheck %s --check-prefix=RESOURCE

// One kernel each of `corrected`, `permuted`, `unknown` and `resource`, two of `starts_from`.
// KERNELS: dispatches 6,

// What a front end makes of `x / (n - correction)`, and NaN where that is not positive.
// CHECK-LABEL: func.func @corrected(
// CHECK-NOT:     arith.subf
// CHECK-NOT:     tensor.extract
// CHECK:         arith.divf %{{.*}}, %[[FOUR:.*]] : f32
// CHECK-NOT:     arith.select
// CHECK:         return
// RESULT: 2xf32=1 -3
func.func @corrected(%x: tensor<2xf32>) -> tensor<2xf32> {
  %five = arith.constant 5.0 : f32
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%e : tensor<f32>) {
  ^bb0(%out: f32):
    linalg.yield %one : f32
  } -> tensor<f32>
  %n = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%c : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %d = arith.subf %five, %in : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  %b = tensor.empty() : tensor<i1>
  %positive = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%n : tensor<f32>) outs(%b : tensor<i1>) {
  ^bb0(%in: f32, %out: i1):
    %p = arith.cmpf ogt, %in, %zero : f32
    linalg.yield %p : i1
  } -> tensor<i1>
  %isPositive = tensor.extract %positive[] : tensor<i1>
  %r = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %n : tensor<2xf32>, tensor<f32>) outs(%r : tensor<2xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %q = arith.divf %in, %by : f32
    %s = arith.select %isPositive, %q, %nan : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A start that is known is read as well; what is transposed is filled.
// CHECK-LABEL: func.func @permuted(
// CHECK:         %[[SIX:.*]] = arith.constant 6 : i32
// CHECK:         linalg.fill ins(%[[SIX]] : i32)
// CHECK-NOT:     arith.addi
func.func @permuted(%n: index) -> tensor<?x3xi32> {
  %two = arith.constant 2 : i32
  %fours = arith.constant dense<4> : tensor<3xi32>
  %e = tensor.empty(%n) : tensor<?x3xi32>
  %f = linalg.fill ins(%two : i32) outs(%e : tensor<?x3xi32>) -> tensor<?x3xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j, i)>],
      iterator_types = ["parallel", "parallel"]} ins(%fours : tensor<3xi32>) outs(%f : tensor<?x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    %s = arith.addi %in, %out : i32
    linalg.yield %s : i32
  } -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// Not known: what depends on where it stands, and sums.
// CHECK-LABEL: func.func @unknown(
// CHECK:         linalg.index
func.func @unknown() -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %f = arith.sitofp %c : i32 to f32
    %s = arith.addf %f, %one : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @starts_from(
// CHECK:         linalg.generic
// CHECK:         arith.addf
func.func @starts_from() -> (tensor<f32>, tensor<2xf32>) {
  %one = arith.constant 1.0 : f32
  %ones = arith.constant dense<1.0> : tensor<7xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%ones : tensor<7xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %r = tensor.empty() : tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%0 : tensor<f32>) outs(%r : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<2xf32>
  return %0, %1 : tensor<f32>, tensor<2xf32>
}

// What a resource holds is as long as its type, and not looked at.
// RESOURCE: 2x2xf32=[1 3][2 4]
func.func @resource() -> tensor<2x2xf32> {
  %x = arith.constant dense_resource<four> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.transpose ins(%x : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  return %0 : tensor<2x2xf32>
}
{-# dialect_resources: { builtin: { four: "0x040000000000803F000000400000404000008040" } } #-}
