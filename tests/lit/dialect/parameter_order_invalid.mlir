// Orders of parameters that say nothing, or what cannot be.
// RUN: tenon-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expected 'binding', 'constant', 'hidden', 'struct' or 'padding'}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [pointer 0]>} : () -> ()

// -----

// expected-error @+1 {{binding is -1, a number from 0 to 32764 is wanted}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [binding -1]>} : () -> ()

// -----

// expected-error @+1 {{expected integer value}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [constant]>} : () -> ()

// -----

// expected-error @+1 {{size in bytes is 0, a number from 1 to 32764 is wanted}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [padding<0, alignment = 4>]>} : () -> ()

// -----

// expected-error @+1 {{alignment is 12, a power of two is wanted}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [struct<24, alignment = 12>(binding 0 at 0)]>} : () -> ()

// -----

// expected-error @+1 {{expected '('}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [struct<24, alignment = 8>]>} : () -> ()

// -----

// expected-error @+1 {{expected 'binding', 'constant' or 'hidden'}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [struct<24, alignment = 8>(padding at 0)]>} : () -> ()

// -----

// expected-error @+1 {{expected 'at'}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [struct<24, alignment = 8>(binding 0)]>} : () -> ()

// -----

// expected-error @+1 {{offset in bytes is 99999, a number from 0 to 32764 is wanted}}
"x"() {a = #hal.pipeline.layout<bindings = [], parameters = [struct<24, alignment = 8>(binding 0 at 99999)]>} : () -> ()

// -----

#objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "a.ptx"}>]}>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{'hal.executable.export' op 'k' has no valid layout: [K-3] parameter 1 is binding 0, which parameter 0 has already: each stands once}}
  hal.executable.export public @k layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>], parameters = [binding 0, binding 0]>) attributes {workgroup_size = [64 : index]}
}

// -----

#objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "a.ptx"}>]}>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{'k' has no valid layout: [K-3] 'parameters' leaves out constant 1: each binding and each constant stands in it once}}
  hal.executable.export public @k layout(#hal.pipeline.layout<constants = 2, bindings = [], parameters = [constant 0]>) attributes {workgroup_size = [64 : index]}
}

// -----

#objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "a.ptx"}>]}>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{'k' has no valid layout: [K-3] member 0 of parameter 0 (binding 0 at 4) begins at byte 4, a multiple of 8 is wanted}}
  hal.executable.export public @k layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>], parameters = [struct<16, alignment = 8>(binding 0 at 4)]>) attributes {workgroup_size = [64 : index]}
}
