// Operations that compute element by element of the same tensors are one kernel, which reads them once; few long sums that no thread alone should
// take are rows; of odd columns, which a block has one by one, shorter ones are parts.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies --split-input-file | FileCheck %s
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies --split-input-file | FileCheck %s --check-prefix=KERNELS

#map = affine_map<(d0, d1) -> (d0, d1)>

// Both gradients of a gate.
// CHECK-LABEL: func.func @gate(
// CHECK: flow.dispatch @gate_dispatch_0{{.*}} -> (tensor<1000x1000xf32>, tensor<1000x1000xf32>)
// CHECK-NOT: flow.dispatch @gate
// CHECK: return
func.func @gate(%a: tensor<1000x1000xf32>, %b: tensor<1000x1000xf32>, %d: tensor<1000x1000xf32>) -> (tensor<1000x1000xf32>, tensor<1000x1000xf32>) {
  %e = tensor.empty() : tensor<1000x1000xf32>
  %da = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%b, %d : tensor<1000x1000xf32>, tensor<1000x1000xf32>) outs(%e : tensor<1000x1000xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %v = arith.mulf %x, %y : f32
    linalg.yield %v : f32
  } -> tensor<1000x1000xf32>
  %db = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a, %d : tensor<1000x1000xf32>, tensor<1000x1000xf32>) outs(%e : tensor<1000x1000xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %v = arith.subf %x, %y : f32
    linalg.yield %v : f32
  } -> tensor<1000x1000xf32>
  return %da, %db : tensor<1000x1000xf32>, tensor<1000x1000xf32>
}

// -----

// The other reads them transposed: apart.
// CHECK-LABEL: func.func @turned(
// CHECK: flow.dispatch @turned_dispatch_0
// CHECK: flow.dispatch @turned_dispatch_1
func.func @turned(%a: tensor<1000x1000xf32>) -> (tensor<1000x1000xf32>, tensor<1000x1000xf32>) {
  %e = tensor.empty() : tensor<1000x1000xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<1000x1000xf32>) outs(%e : tensor<1000x1000xf32>) {
  ^bb0(%x: f32, %o: f32):
    %v = arith.negf %x : f32
    linalg.yield %v : f32
  } -> tensor<1000x1000xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<1000x1000xf32>) outs(%e : tensor<1000x1000xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<1000x1000xf32>
  return %n, %t : tensor<1000x1000xf32>, tensor<1000x1000xf32>
}

// -----

// KERNELS: func.func @trace_dispatch_0({{.*}}lanes = 256 : i64, name = "rows"
func.func @trace(%x: tensor<100x333x333xf32>, %n: tensor<333xf32>) -> tensor<100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<100x333x333xf32>, tensor<333xf32>) outs(%s : tensor<100xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.addf %c, %a : f32
    linalg.yield %v : f32
  } -> tensor<100xf32>
  return %r : tensor<100xf32>
}

// -----

// KERNELS: func.func @odd_dispatch_0(%{{.*}}: tensor<13x77x77xf32>) -> tensor<13x77xf32>
func.func @odd(%x: tensor<1001x77xf32>) -> tensor<77xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<77xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<77xf32>) -> tensor<77xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<1001x77xf32>) outs(%s : tensor<77xf32>) {
  ^bb0(%a: f32, %c: f32):
    %v = arith.addf %c, %a : f32
    linalg.yield %v : f32
  } -> tensor<77xf32>
  return %r : tensor<77xf32>
}
