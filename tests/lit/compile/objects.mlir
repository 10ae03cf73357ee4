// Where hand-written objects are looked for, and what the linker says of them.
// RUN: rm -rf %t && split-file %s %t
// RUN: mkdir -p %t/first %t/second && cp %S/Inputs/kernels.ptx %t/second/kernels.ptx
// RUN: not tenon-compile %t/program.mlir -o %t/a.tenon 2>&1 | FileCheck %s --check-prefix=ONE -DDIR=%t
// RUN: not tenon-compile %t/program.mlir --object-search-path=%t/first --iree-hal-executable-object-search-path %t/absent -o %t/a.tenon 2>&1 | FileCheck %s --check-prefix=ALL -DDIR=%t
// RUN: not ls %t/a.tenon
// RUN: tenon-compile %t/program.mlir --object-search-path=%t/first --object-search-path=%t/second -o %t/b.tenon
// RUN: cp %S/Inputs/kernels.ptx %t/kernels.ptx
// RUN: tenon-compile %t/program.mlir -o %t/c.tenon
// RUN: cmp %t/b.tenon %t/c.tenon
// RUN: not tenon-compile %t/absolute.mlir --object-search-path=%t -o %t/d.tenon 2>&1 | FileCheck %s --check-prefix=ABSOLUTE
// RUN: not tenon-compile %t/entry.mlir -o %t/e.tenon 2>&1 | FileCheck %t/entry.mlir
// RUN: not ls %t/e.tenon

// ONE: program.mlir:2:1: error: object 'kernels.ptx' of '@k' is not found
// ONE: note: tried '[[DIR]]/kernels.ptx'
// ONE: note: fix: name its folder with --object-search-path=DIR
// ALL: error: object 'kernels.ptx' of '@k' is not found
// ALL: note: tried '[[DIR]]/first/kernels.ptx'
// ALL: note: tried '[[DIR]]/absent/kernels.ptx'
// ALL: note: tried '[[DIR]]/kernels.ptx'
// ABSOLUTE: error: object '/nowhere/kernels.ptx' of '@k' is not found
// ABSOLUTE: note: tried '/nowhere/kernels.ptx'
// ABSOLUTE-NOT: tried

//--- program.mlir
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
hal.executable.source private @k attributes {objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>} {
  hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      attributes {workgroup_size = [64 : index]}
}
func.func @f(%a: i32) -> i32 {
  return %a : i32
}

//--- absolute.mlir
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
hal.executable.source private @k attributes {objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "/nowhere/kernels.ptx"}>]}>} {
  hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      attributes {workgroup_size = [64 : index]}
}
func.func @f(%a: i32) -> i32 {
  return %a : i32
}

//--- entry.mlir
// Both places: the object's, and the declaration's.
// CHECK: entry.mlir:[[#@LINE+4]]:1: error: {{.*}}kernels.ptx: [K-2] entry point 'scala' is not in variant 'sm_75'
// CHECK: entry.mlir:[[#@LINE+4]]:3: note: export 'scala' is declared here
// CHECK: note: fix: {{.*}}'scale'
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
hal.executable.source private @k attributes {objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>} {
  hal.executable.export public @scala layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      attributes {workgroup_size = [64 : index]}
}
func.func @f(%a: i32) -> i32 {
  return %a : i32
}
