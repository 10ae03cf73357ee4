// hal.dispatch.extern follows the rules of declarations and of dispatches.
// RUN: tenon-opt --split-input-file --verify-diagnostics %s

#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
func.func @f() {
  // expected-error @+4 {{'main' has no objects: add objects({#target ordinal(0) = [#hal.executable.object<{path = "kernels.ptx"}>]})}}
  // expected-error @+3 {{'main' has no workgroup_size}}
  // expected-error @+2 {{dispatches 'main', which has no count region}}
  // expected-note @+1 {{'main' is declared here}}
  %0 = hal.dispatch.extern "main"() : () -> tensor<4xf32> layout(#layout)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{extern dispatch 'main' has no layout(#hal.pipeline.layout<..>)}}
  %0 = hal.dispatch.extern "main"() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>
func.func @f(%w: index, %n: i64) {
  // expected-error @+5 {{'main' has no objects for target #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>, a file is wanted}}
  // expected-error @+4 {{gives 0 workload values, the count region of 'main' takes 1}}
  // expected-error @+3 {{argument 0 is 'i64', 8 bytes wide, constant 0 of 'main' is a 32-bit word}}
  // expected-error @+2 {{writes result 0 to binding 0 of 'main', which is ReadOnly}}
  // expected-note @+1 {{'main' is declared here}}
  %0 = hal.dispatch.extern "main"(%n) : (i64) -> tensor<4xf32>
    count(%device: !hal.device, %x: index) -> (index, index, index) {
      hal.return %x, %x, %x : index, index, index
    }
    layout(#layout) objects({#sm_80 ordinal(0) = []}) attributes {workgroup_size = [64 : index]}
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{has 1 targets, 0 ordinals, 1 lists of objects and 0 conditions, one of each per target is wanted}}
  %0 = "hal.dispatch.extern"() <{
    export_name = "main", layout = #hal.pipeline.layout<bindings = []>, operandSegmentSizes = array<i32: 0, 0, 0, 0>,
    targets = [#hal.executable.target<"cuda", "cuda-nvptx-fb">], target_ordinals = [], target_objects = [[]]
  }> ({}) : () -> tensor<4xf32>
  return
}
