// Regions that the host evaluates: straight-line integer arithmetic, the right arguments, the right results.
// RUN: tenon-opt --split-input-file --verify-diagnostics %s

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{the count region is declared here}}
  hal.executable.export @f layout(#layout) count(%device: !hal.device, %w: index) -> (index, index, index) {
    // expected-error @+1 {{'arith.constant' op is found in a count region, integer arithmetic of 'arith' and 'affine' is wanted: the host evaluates it before the launch}}
    %f = arith.constant 1.0 : f32
    %true = arith.constant true
    // expected-error @+1 {{'scf.if' op is found in a count region}}
    scf.if %true {
    }
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{the count region is declared here}}
  hal.executable.export @f layout(#layout) count(%device: !hal.device, %w: index) -> (index, index, index) {
    // expected-error @+1 {{'hal.return' op returns ('index', 'index') from a count region, hal.return of ('index', 'index', 'index') is wanted}}
    hal.return %w, %w : index, index
  } attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{'count' is declared to return ('index', 'index'), (index, index, index) is wanted}}
  hal.executable.export @f layout(#layout) count(%device: !hal.device, %w: index) -> (index, index) {
    hal.return %w, %w : index, index
  }
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{has a count region that takes ('index'), a !hal.device is wanted first}}
  hal.executable.export @f layout(#layout) count(%w: index) -> (index, index, index) {
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{has a count region that takes 'i32', index values are wanted after the device}}
  hal.executable.export @g layout(#layout) count(%device: !hal.device, %w: i32) -> (index, index, index) {
    %i = arith.index_cast %w : i32 to index
    hal.return %i, %i, %i : index, index, index
  } attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{has a count region that takes (), a !hal.device is wanted first}}
  hal.executable.export @i layout(#layout) count() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{has a count region of 2 blocks, one is wanted: write a choice as arith.select}}
  hal.executable.export @h layout(#layout) count(%device: !hal.device, %w: index) -> (index, index, index) {
    cf.br ^next
  ^next:
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  hal.executable.export @f layout(#layout) count(%device: !hal.device, %w: index) -> (index, index, index) {
    hal.return %w, %w, %w : index, index, index
  // expected-error @+1 {{the grid is given twice: by 'count' and by a trailing region}}
  } attributes {workgroup_size = [1 : index]} {
  ^bb0(%device: !hal.device, %w: index):
    hal.return %w, %w, %w : index, index, index
  }
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable @e {
  hal.executable.variant @v target(#sm_80) objects([#hal.executable.object<{path = "a.ptx"}>]) {
    // expected-error @+1 {{has a condition region that takes 'index', nothing is wanted after the device}}
    hal.executable.condition(%device: !hal.device, %w: index) -> i1 {
      %true = arith.constant true
      hal.return %true : i1
    }
  }
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{empty block: expect at least a terminator}}
  hal.executable.export @f layout(#layout) count(%device: !hal.device) -> (index, index, index) {
  } attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  hal.executable.export @f layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    // expected-error @+1 {{block with no terminator}}
    %c1 = arith.constant 1 : index
  } attributes {workgroup_size = [1 : index]}
}
