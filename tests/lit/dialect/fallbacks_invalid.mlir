// tenon.fallback where it means nothing, or means two things.
// RUN: tenon-opt %s --tenon-normalize-executables --split-input-file --verify-diagnostics -o /dev/null

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
// expected-error @+1 {{'tenon.fallback' is found on 'hal.executable.source', it is wanted on hal.executable.export or hal.dispatch.extern: it belongs to the kernel}}
hal.executable.source private @e attributes {objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>, tenon.fallback = @f} {
  // expected-error @+1 {{'tenon.fallback' = "f" is found, a function (@name) is wanted}}
  hal.executable.export @k layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index], tenon.fallback = "f"}
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'tenon.fallback' is found on 'flow.dispatch'}}
  %0 = flow.dispatch @e::@k(%x) {tenon.fallback = @f} : (tensor<4xf32>) -> %x
  return %0 : tensor<4xf32>
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable private @e {
  hal.executable.variant @a target(#sm_80) objects([#hal.executable.object<{path = "a.ptx"}>]) {
    // expected-note @+1 {{'k' is declared here}}
    hal.executable.export @k layout(#layout) attributes {workgroup_size = [1 : index], tenon.fallback = @f}
  }
  hal.executable.variant @b target(#sm_90) objects([#hal.executable.object<{path = "b.ptx"}>]) {
    // expected-error @+1 {{export 'k' of variant 'b' has another tenon.fallback than that of variant 'a': declare it the same in every variant}}
    hal.executable.export @k layout(#layout) attributes {workgroup_size = [1 : index]}
  }
}
