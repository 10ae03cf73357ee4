// flow.dispatch in every form; what canonicalization and common subexpression elimination may do with it.
// RUN: tenon-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: tenon-opt --allow-unregistered-dialect %s > %t.1
// RUN: tenon-opt --allow-unregistered-dialect %t.1 > %t.2
// RUN: diff %t.1 %t.2
// The generic form says the same.
// RUN: tenon-opt --allow-unregistered-dialect %t.1 --mlir-print-op-generic | tenon-opt --allow-unregistered-dialect | diff %t.1 -
// RUN: tenon-opt --allow-unregistered-dialect %s --canonicalize --cse --resolve-ranked-shaped-type-result-dims | FileCheck %s --check-prefix=OPT

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#rw = #hal.pipeline.binding<storage_buffer>
#one = #hal.pipeline.layout<bindings = [#rw]>
#two = #hal.pipeline.layout<bindings = [#rw, #rw]>
#words = #hal.pipeline.layout<constants = 2, bindings = [#rw, #rw, #rw]>
#typed = #hal.pipeline.layout<constants = [i64, f32, index, i1], bindings = [#rw]>

hal.executable.source private @e attributes {objects = #objects} {
  hal.executable.export @one layout(#one) count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
  hal.executable.export @other layout(#one) count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
  hal.executable.export @two layout(#two) count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
  hal.executable.export @words layout(#words) count(%d: !hal.device, %x: index, %y: index) -> (index, index, index) {
    hal.return %x, %y, %y : index, index, index
  } attributes {workgroup_size = [1 : index]}
  hal.executable.export @typed layout(#typed) count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
}

// CHECK-LABEL: func.func @forms
// CHECK-SAME: (%[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<4xf32>, %[[D0:.*]]: index, %[[D1:.*]]: index, %[[N:.*]]: i32, %[[F:.*]]: f32, %[[L:.*]]: i64, %[[P:.*]]: i1)
func.func @forms(%a: tensor<?x?xf32>, %b: tensor<4xf32>, %d0: index, %d1: index, %n: i32, %f: f32, %l: i64, %p: i1)
    -> (tensor<?xf16>, tensor<?x?xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) {
  // Scalars between tensors; a workload of two; dynamic operands and results.
  // CHECK: %[[R0:.*]] = flow.dispatch @e::@words[%[[D0]], %[[D1]]](%[[N]], %[[A]], %[[F]], %[[B]]) : (i32, tensor<?x?xf32>{%[[D0]], %[[D1]]}, f32, tensor<4xf32>) -> tensor<?xf16>{%[[D1]]}
  %0 = flow.dispatch @e::@words[%d0, %d1](%n, %a, %f, %b) : (i32, tensor<?x?xf32>{%d0, %d1}, f32, tensor<4xf32>) -> tensor<?xf16>{%d1}
  // A tied result takes its operand's type.
  // CHECK: flow.dispatch @e::@one(%[[A]]) : (tensor<?x?xf32>{%[[D0]], %[[D1]]}) -> %[[A]]{%[[D0]], %[[D1]]}
  %1 = flow.dispatch @e::@one(%a) : (tensor<?x?xf32>{%d0, %d1}) -> %a{%d0, %d1}
  // Several results, one tied and reshaped; parentheses may be left out.
  // CHECK: flow.dispatch @e::@two(%[[B]]) : (tensor<4xf32>) -> (tensor<4xf32>, %[[B]] as tensor<2x2xf32>)
  %2:2 = flow.dispatch @e::@two(%b) : (tensor<4xf32>) -> (tensor<4xf32>, %b as tensor<2x2xf32>)
  // CHECK: flow.dispatch @e::@two(%[[B]]) : (tensor<4xf32>) -> (tensor<4xf32>, %[[B]])
  %3:2 = flow.dispatch @e::@two(%b) : (tensor<4xf32>) -> tensor<4xf32>, %b
  // CHECK: flow.dispatch @e::@typed(%[[B]], %[[L]], %[[F]], %[[D0]], %[[P]]) : (tensor<4xf32>, i64, f32, index, i1) -> %[[B]]
  %4 = flow.dispatch @e::@typed(%b, %l, %f, %d0, %p) : (tensor<4xf32>, i64, f32, index, i1) -> %b
  // An argument passed twice: a tie by name is to the first, the attribute says otherwise.
  // CHECK: flow.dispatch @e::@two(%[[B]], %[[B]]) : (tensor<4xf32>, tensor<4xf32>) -> %[[B]]
  %6 = flow.dispatch @e::@two(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> %b
  // CHECK: flow.dispatch @e::@two(%[[B]], %[[B]]) {tied_operands = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> %[[B]]
  %7 = flow.dispatch @e::@two(%b, %b) {tied_operands = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> %b
  // A list of entry points, attributes.
  // CHECK: flow.dispatch {@e::@one, @e::@other}() {test.note = "x"} : () -> tensor<4xf32>
  %5 = flow.dispatch {@e::@one, @e::@other}() {test.note = "x"} : () -> tensor<4xf32>
  return %0, %1, %2#0, %2#1, %4 : tensor<?xf16>, tensor<?x?xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>
}

// Equal dispatches are one, an unused one is none, a tied one is a value like any other; a result's dimension is the
// dispatch's operand.
// OPT-LABEL: func.func @optimized
// OPT-SAME: (%[[A:.*]]: tensor<?xf32>, %[[D:.*]]: index)
func.func @optimized(%a: tensor<?xf32>, %d: index) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, index) {
  // OPT-NEXT: %[[T:.*]] = flow.dispatch @e::@one(%[[A]])
  // OPT-NEXT: %[[U:.*]] = flow.dispatch @e::@one(%[[T]])
  // OPT-NEXT: return %[[T]], %[[T]], %[[U]], %[[D]]
  %c0 = arith.constant 0 : index
  %0 = flow.dispatch @e::@one(%a) : (tensor<?xf32>{%d}) -> %a{%d}
  %1 = flow.dispatch @e::@one(%a) : (tensor<?xf32>{%d}) -> %a{%d}
  %2 = flow.dispatch @e::@one(%1) : (tensor<?xf32>{%d}) -> %1{%d}
  %unused = flow.dispatch @e::@two(%1) : (tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
  %dim = tensor.dim %2, %c0 : tensor<?xf32>
  return %0, %1, %2, %dim : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, index
}
