// tenon.fallback stays with the kernel whatever form declares it, and silences the warning about targets without objects.
// RUN: tenon-opt %s --tenon-normalize-executables --mlir-print-local-scope --verify-diagnostics | FileCheck %s
// Functions that are fallbacks outlive the inlining of calls, with the calls in them inlined.
// RUN: tenon-opt %s --tenon-normalize-executables --tenon-inline-calls --verify-diagnostics | FileCheck %s --check-prefix=INLINED

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
module attributes {hal.device.targets = [#hal.device.target<"cuda", [#sm_80, #sm_90]>]} {
  // CHECK: hal.executable.source private @variants <objects =
  // CHECK: hal.executable.export public @k {{.*}} <workgroup_size = [64 : index, 1 : index, 1 : index]> attributes {tenon.fallback = @f}
  hal.executable private @variants {
    hal.executable.variant @a target(#sm_90) objects([#hal.executable.object<{path = "a.ptx"}>]) {
      hal.executable.export @k layout(#layout) attributes {workgroup_size = [64 : index], tenon.fallback = @f}
    }
  }

  // Two dispatches, two fallbacks, two declarations.
  // CHECK: hal.executable.source private @extern_dispatch_0
  // CHECK: <workgroup_size = [32 : index, 1 : index, 1 : index]> attributes {tenon.fallback = @f}
  // CHECK: hal.executable.source private @extern_dispatch_1
  // CHECK: <workgroup_size = [32 : index, 1 : index, 1 : index]> attributes {tenon.fallback = @g}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = hal.dispatch.extern "k"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      count(%device: !hal.device) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        hal.return %c1, %c1, %c1 : index, index, index
      }
      layout(#layout)
      objects({#sm_90 ordinal(0) = [#hal.executable.object<{path = "a.ptx"}>]})
      attributes {workgroup_size = [32 : index], tenon.fallback = @f}
    %1 = hal.dispatch.extern "k"(%0) : (tensor<4xf32>) -> tensor<4xf32>
      count(%device: !hal.device) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        hal.return %c1, %c1, %c1 : index, index, index
      }
      layout(#layout)
      objects({#sm_90 ordinal(0) = [#hal.executable.object<{path = "a.ptx"}>]})
      attributes {workgroup_size = [32 : index], tenon.fallback = @g}
    return %1 : tensor<4xf32>
  }

  // INLINED-NOT: @negated
  // INLINED: func.func private @f(
  // INLINED-NEXT: arith.negf
  // INLINED-NEXT: return
  // INLINED: func.func private @g(
  // INLINED-NEXT: arith.negf
  // INLINED-NOT: @unused
  func.func private @negated(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.negf %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = func.call @negated(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.negf %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
