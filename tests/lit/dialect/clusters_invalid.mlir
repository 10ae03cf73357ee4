// tenon.cluster that says nothing, or two things.
// RUN: tenon-opt %s --split-input-file --tenon-normalize-executables --verify-diagnostics

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
