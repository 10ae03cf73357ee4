// A type that no program can hold is an error at its place, for all functions at once, and before anything is linked:
// the object that is not there is not looked for.
// RUN: tenon-opt %s --tenon-verify-signatures -verify-diagnostics -o /dev/null
// RUN: not tenon-compile %s -o %t.tenon 2>&1 | FileCheck %s
// CHECK-COUNT-3: error: {{argument|result}}
// CHECK-NOT: is not found

#target = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal.executable.source private @kernels attributes {
  objects = #hal.executable.objects<{#target = [#hal.executable.object<{path = "nowhere.ptx"}>]}>
} {
  hal.executable.export public @k ordinal(0) layout(#hal.pipeline.layout<bindings = [<storage_buffer>]>)
    attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
}

// expected-error @+1 {{argument 1 of '@g' has type 'complex<f32>', which a program cannot take}}
func.func @g(%a: i32, %b: complex<f32>) {
  return
}

// expected-error @+2 {{argument 0 of '@h' has type 'vector<4xf32>', which a program cannot take}}
// expected-error @+1 {{result 0 of '@h' has type 'vector<4xf32>', which a program cannot return}}
func.func @h(%a: vector<4xf32>) -> vector<4xf32> {
  return %a : vector<4xf32>
}

// A private function has no signature of the program's.
func.func private @i(%a: memref<4xf32>) {
  return
}
