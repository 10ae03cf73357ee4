// tenon.cluster stays with the kernel whatever form declares it.
// RUN: tenon-opt %s --tenon-normalize-executables --mlir-print-local-scope | FileCheck %s

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
