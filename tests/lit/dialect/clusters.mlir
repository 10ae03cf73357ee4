// tenon.cluster stays with the kernel whatever form declares it.
// RUN: split-file %s %t
// RUN: tenon-opt %t/right.mlir --tenon-normalize-executables --mlir-print-local-scope | FileCheck %s
// RUN: tenon-opt %t/wrong.mlir --split-input-file --tenon-normalize-executables --verify-diagnostics

//--- right.mlir
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
module attributes {hal.device.targets = [#hal.device.target<"cuda", [#sm_90]>]} {
  // CHECK: hal.executable.source private @variants <objects =
  // CHECK: hal.executable.export public @k {{.*}} attributes {tenon.cluster = [2, 2]}
  hal.executable private @variants {
    hal.executable.variant @a target(#sm_90) objects([#hal.executable.object<{path = "a.ptx"}>]) {
      hal.executable.export @k layout(#layout) attributes {workgroup_size = [64 : index], tenon.cluster = [2, 2]}
    }
  }
  // Two dispatches, two clusters, two declarations.
  // CHECK: hal.executable.source private @extern_dispatch_0
  // CHECK: attributes {tenon.cluster = [2]}
  // CHECK: hal.executable.source private @extern_dispatch_1
  // CHECK: attributes {tenon.cluster = [4]}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = hal.dispatch.extern "k"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      count(%device: !hal.device) -> (index, index, index) {
        %c4 = arith.constant 4 : index
        hal.return %c4, %c4, %c4 : index, index, index
      }
      layout(#layout)
      objects({#sm_90 ordinal(0) = [#hal.executable.object<{path = "a.ptx"}>]})
      attributes {workgroup_size = [32 : index], tenon.cluster = [2]}
    %1 = hal.dispatch.extern "k"(%0) : (tensor<4xf32>) -> tensor<4xf32>
      count(%device: !hal.device) -> (index, index, index) {
        %c4 = arith.constant 4 : index
        hal.return %c4, %c4, %c4 : index, index, index
      }
      layout(#layout)
      objects({#sm_90 ordinal(0) = [#hal.executable.object<{path = "a.ptx"}>]})
      attributes {workgroup_size = [32 : index], tenon.cluster = [4]}
    return %1 : tensor<4xf32>
  }
}

//--- wrong.mlir
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#sm_90a = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable private @e {
  hal.executable.variant @a target(#sm_90) objects([#hal.executable.object<{path = "a.ptx"}>]) {
    // expected-note @+1 {{'k' is declared here}}
    hal.executable.export @k layout(#layout) attributes {workgroup_size = [1 : index], tenon.cluster = [2]}
  }
  hal.executable.variant @b target(#sm_90a) objects([#hal.executable.object<{path = "b.ptx"}>]) {
    // expected-error @+1 {{export 'k' of variant 'b' has another tenon.cluster than that of variant 'a': declare it the same in every variant}}
    hal.executable.export @k layout(#layout) attributes {workgroup_size = [1 : index]}
  }
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "a.ptx"}>]}>} {
  // expected-error @+1 {{'f' has tenon.cluster = 2 : i64, one to three integers from 1 to 16 are wanted}}
  hal.executable.export @f layout(#layout) attributes {workgroup_size = [1 : index], tenon.cluster = 2}
  // expected-error @+1 {{'g' has tenon.cluster = [1, 1, 1, 1], one to three integers from 1 to 16 are wanted}}
  hal.executable.export @g layout(#layout) attributes {workgroup_size = [1 : index], tenon.cluster = [1, 1, 1, 1]}
  // expected-error @+1 {{'h' has tenon.cluster = [17], one to three integers from 1 to 16 are wanted}}
  hal.executable.export @h layout(#layout) attributes {workgroup_size = [1 : index], tenon.cluster = [17]}
}
