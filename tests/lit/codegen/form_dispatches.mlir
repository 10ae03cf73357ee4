// Tensor code between hand-written dispatches becomes an executable of its own and a dispatch of it.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s

// CHECK: #[[LAYOUT:.+]] = #hal.pipeline.layout<constants = [i64], bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>

// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[A:.+]]: tensor<?xf32>, %[[B:.+]]: tensor<?xf32>)
func.func @two(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[D:.+]] = tensor.dim %[[A]]
  // CHECK: %[[N:.+]] = arith.index_cast %[[D]] : index to i64
  // A chain of elementwise operations is one kernel, with every result that is read outside of it.
  // CHECK: %[[R:.+]]:2 = flow.dispatch @two_dispatch_0::@two_dispatch_0[%[[D]]](%[[N]], %[[A]], %[[B]]) : (i64, tensor<?xf32>{%[[D]]}, tensor<?xf32>{%[[D]]}) -> (tensor<?xf32>{%[[D]]}, tensor<?xf32>{%[[D]]})
  %0 = arith.addf %a, %b : tensor<?xf32>
  %1 = arith.mulf %0, %b : tensor<?xf32>
  %2 = arith.negf %1 : tensor<?xf32>
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1
  return %1, %2 : tensor<?xf32>, tensor<?xf32>
}

// The same kernel in another function: its executable is used again.
// CHECK-LABEL: func.func @again
// CHECK: flow.dispatch @two_dispatch_0::@two_dispatch_0
func.func @again(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = arith.addf %a, %b : tensor<?xf32>
  %1 = arith.mulf %0, %b : tensor<?xf32>
  %2 = arith.negf %1 : tensor<?xf32>
  return %1, %2 : tensor<?xf32>, tensor<?xf32>
}

// What is done with each element of a contraction's result is part of its kernel.
// CHECK-LABEL: func.func @bias
// CHECK: flow.dispatch @bias_dispatch_0
// CHECK-NOT: flow.dispatch
// CHECK: return
func.func @bias(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%start : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = arith.addf %p, %c : tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// CHECK-LABEL: hal.executable.source private @two_dispatch_0 attributes {tenon.generated}
// CHECK: hal.executable.export public @two_dispatch_0 ordinal(0) layout(#[[LAYOUT]]) count(%{{.+}}: !hal.device, %{{.+}}: index) -> (index, index, index) {
// How many blocks there are is said when a strategy is chosen.
// CHECK: %[[ONE:.+]] = arith.constant 1
// CHECK: hal.return %[[ONE]], %[[ONE]], %[[ONE]]
// CHECK: builtin.module
// CHECK: func.func @two_dispatch_0(%{{.+}}: i64, %{{.+}}: tensor<?xf32> {tenon.dims = array<i64: 0>}, %{{.+}}: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> (tensor<?xf32> {tenon.dims = array<i64: 0>}, tensor<?xf32> {tenon.dims = array<i64: 0>})
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: arith.negf
// CHECK-NOT: hal.executable.source private @again
