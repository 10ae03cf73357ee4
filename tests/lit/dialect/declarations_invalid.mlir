// Declarations that are refused, each at its place and with a note at the other one.
// RUN: tenon-opt --split-input-file --verify-diagnostics %s

#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
// expected-error @+1 {{has no objects: add objects with a file for each target, as in #hal.executable.objects<{#target = [#hal.executable.object<{path = "kernels.ptx"}>]}>}}
hal.executable.source private @e {
  hal.executable.export @f layout(#layout) attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
// expected-error @+1 {{has no objects}}
hal.executable.source private @e attributes {objects = #hal.executable.objects<{#sm_80 = []}>} {}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
// expected-error @+1 {{object 1 has neither a path nor data: write path = "file" or data = dense<..>}}
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  #sm_80 = [#hal.executable.object<{path = "a.ptx"}>, #hal.executable.object<{path = ""}>]
}>} {}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
// expected-error @+1 {{object 0 has data of type 'vector<2xi32>', bytes (vector<Nxi8>) are wanted}}
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  #sm_80 = [#hal.executable.object<{path = "a.ptx", data = dense<0> : vector<2xi32>}>]
}>} {}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
// expected-error @+1 {{names target #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> twice: list its objects under one key}}
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  #sm_80 = [#hal.executable.object<{path = "a.ptx"}>],
  #sm_80 = [#hal.executable.object<{path = "b.ptx"}>]
}>} {}

// -----

#sm_81 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_81"}>
// expected-error-re @+1 {{target architecture 'sm_81' is unknown: did you mean 'sm_61', 'sm_80' or 'sm_86'? Known: {{.*}}sm_80{{.*}}sm_90{{.*}}}}
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  #sm_81 = [#hal.executable.object<{path = "a.ptx"}>]
}>} {}

// -----

#odd = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = 80 : i32}>
// expected-error @+1 {{'target_arch' of the target is no string}}
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  #odd = [#hal.executable.object<{path = "a.ptx"}>]
}>} {}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{'func.func' op is found in an executable, hal.executable.export is wanted}}
  func.func private @f()
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'f' is declared here}}
  hal.executable.export @f ordinal(1) layout(#layout) attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{'g' has ordinal 1, which 'f' has already: give each its own}}
  hal.executable.export @g ordinal(1) layout(#layout) attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  hal.executable.export @f ordinal(0) layout(#layout) attributes {workgroup_size = [1 : index]}
  hal.executable.export @g layout(#layout) attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{'h' has ordinal 3, 0 to 2 are wanted: number the exports from 0 without a gap}}
  hal.executable.export @h ordinal(3) layout(#layout) attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{'f' has no workgroup_size: add <workgroup_size = [64 : index, 1 : index, 1 : index]> behind the count region, with the kernel's block size}}
  hal.executable.export @f layout(#layout)
  // expected-error @+1 {{'g' has workgroup_size = [], one to three integers from 1 to 1024 are wanted}}
  hal.executable.export @g layout(#layout) attributes {workgroup_size = []}
  // expected-error @+1 {{'h' has workgroup_size = [0 : index], one to three integers from 1 to 1024 are wanted}}
  hal.executable.export @h layout(#layout) attributes {workgroup_size = [0 : index]}
  // expected-error @+1 {{'i' has workgroup_size = ["64"], one to three integers}}
  hal.executable.export @i layout(#layout) attributes {workgroup_size = ["64"]}
  // expected-error @+1 {{'j' has workgroup_size = [1 : index, 1 : index, 1 : index, 1 : index], one to three integers}}
  hal.executable.export @j layout(#layout) attributes {workgroup_size = [1 : index, 1 : index, 1 : index, 1 : index]}
  // expected-error @+1 {{'k' has workgroup_size = [64 : index, 32 : index, 1 : index], 2048 threads, at most 1024 are wanted}}
  hal.executable.export @k layout(#layout) attributes {workgroup_size = [64 : index, 32 : index, 1 : index]}
  // expected-error @+1 {{'l' has workgroup_size = [1 : index, 1 : index, 128 : index], at most 64 threads are wanted along z}}
  hal.executable.export @l layout(#layout) attributes {workgroup_size = [1 : index, 1 : index, 128 : index]}
  // expected-error @+1 {{'m' has subgroup_size = 64, 32 is wanted: a CUDA warp has no other}}
  hal.executable.export @m layout(#layout) attributes {workgroup_size = [64 : index], subgroup_size = 64 : index}
  // expected-error @+1 {{'n' has workgroup_local_memory = -1, a number of bytes >= 0 is wanted}}
  hal.executable.export @n layout(#layout) attributes {workgroup_size = [64 : index], workgroup_local_memory = -1 : index}
  // expected-error @+1 {{'o' has no valid layout: [K-5]}}
  hal.executable.export @o layout(#hal.pipeline.layout<constants = 8191, bindings = [#hal.pipeline.binding<storage_buffer>]>) attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{'p' has a fallback and no condition}}
  hal.executable.export @p layout(#layout) fallback(@f) attributes {workgroup_size = [1 : index]}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{export 'f' has no layout(#hal.pipeline.layout<..>)}}
  hal.executable.export @f attributes {workgroup_size = [1 : index]}
}

// -----

// expected-error @+1 {{has no hal.executable.variant, one for each target is wanted}}
hal.executable @e {}

// -----

#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable @e {
  // expected-error @+1 {{'hal.executable.variant' op has no objects}}
  hal.executable.variant @v target(<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>) {
    hal.executable.export @f layout(#layout) attributes {workgroup_size = [1 : index]}
  }
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal.executable @e {
  // expected-note @+1 {{'v' is declared here}}
  hal.executable.variant @v target(#sm_80) objects([#hal.executable.object<{path = "a.ptx"}>]) {}
  // expected-error @+1 {{'w' has target #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>, which 'v' has already: keep one of them}}
  hal.executable.variant @w target(#sm_80) objects([#hal.executable.object<{path = "b.ptx"}>]) {}
}

// -----

hal.executable @e {
  hal.executable.variant @v target(<"cuda", "cuda-nvptx-fb">) objects([#hal.executable.object<{path = "a.ptx"}>]) {}
  // expected-error @+1 {{is found in hal.executable, hal.executable.variant is wanted}}
  builtin.module {}
}

// -----

hal.executable @e {
  // expected-error @+1 {{object 0 is "a.ptx", #hal.executable.object<{..}> is wanted}}
  hal.executable.variant @v target(<"cuda", "cuda-nvptx-fb">) objects(["a.ptx"]) {}
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal.executable @e {
  hal.executable.variant @v target(#sm_80) objects([#hal.executable.object<{path = "a.ptx"}>]) {
    // expected-error @+1 {{has 1 keys for 2 values, one for each is wanted}}
    hal.executable.constant.block(%device: !hal.device) -> (i32, i32) as "foo" {
      %c0 = arith.constant 0 : i32
      hal.return %c0, %c0 : i32, i32
    }
  }
}
