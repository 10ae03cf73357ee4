// Tensor code between hand-written dispatches becomes an executable of its own and a dispatch of it.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s

// CHECK-DAG: #[[COUNT:.+]] = affine_map<()[s0] -> (s0 ceildiv 1024)>
// CHECK-DAG: #[[LAYOUT:.+]] = #hal.pipeline.layout<constants = [i64], bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>

// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[A:.+]]: tensor<?xf32>, %[[B:.+]]: tensor<?xf32>)
func.func @two(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[D:.+]] = tensor.dim %[[A]]
  // CHECK: %[[N:.+]] = arith.index_cast %[[D]] : index to i64
  // A chain of elementwise operations is one kernel.
  // CHECK: %[[R:.+]] = flow.dispatch @two_dispatch_0::@two_dispatch_0[%[[D]]](%[[N]], %[[A]], %[[B]]) : (i64, tensor<?xf32>{%[[D]]}, tensor<?xf32>{%[[D]]}) -> tensor<?xf32>{%[[D]]}
  %0 = arith.addf %a, %b : tensor<?xf32>
  %1 = arith.mulf %0, %b : tensor<?xf32>
  // CHECK: %[[S:.+]] = flow.dispatch @two_dispatch_1::@two_dispatch_1
  // CHECK-SAME: %[[R]]
  %2 = arith.negf %1 : tensor<?xf32>
  // CHECK: return %[[R]], %[[S]]
  return %1, %2 : tensor<?xf32>, tensor<?xf32>
}

// The same kernel in another function: its executable is used again.
// CHECK-LABEL: func.func @again
// CHECK: flow.dispatch @two_dispatch_1::@two_dispatch_1
func.func @again(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.negf %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: hal.executable.source private @two_dispatch_0 attributes {tenon.generated}
// CHECK: hal.executable.export public @two_dispatch_0 ordinal(0) layout(#[[LAYOUT]]) count(%{{.+}}: !hal.device, %[[W:.+]]: index) -> (index, index, index) {
// CHECK: %[[X:.+]] = affine.apply #[[COUNT]]()[%[[W]]]
// CHECK: %[[ONE:.+]] = arith.constant 1
// CHECK: hal.return %[[X]], %[[ONE]], %[[ONE]]
// CHECK: workgroup_size = [256 : index, 1 : index, 1 : index]
// CHECK: builtin.module
// CHECK: func.func @two_dispatch_0(%{{.+}}: i64, %{{.+}}: tensor<?xf32> {tenon.dims = array<i64: 0>}, %{{.+}}: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> (tensor<?xf32> {tenon.dims = array<i64: 0>}) attributes {tenon.elements_per_thread = 4 : i64}
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK-NOT: hal.executable.source private @again
