// A kernel about which something cannot be proved: a warning, under --strict an error. What it surely does is an error.
// RUN: tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: not tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon --strict 2>&1 | FileCheck %s --check-prefix=ERROR

// WARNING: access.ptx:10:3: warning: [K-13] cannot prove that 'either' does not write binding 0, which the layout declares read-only
// ERROR: access.ptx:10:3: error: [K-13] cannot prove that 'either' does not write binding 0

#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
module @strict {
  hal.executable.source private @k attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "access.ptx"}>]}>
  } {
    hal.executable.export public @either layout(#hal.pipeline.layout<constants = 0, bindings = [#ro, #rw]>)
        count(%d: !hal.device) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %one, %one, %one : index, index, index
    } attributes {workgroup_size = [64 : index]}
  }
  func.func @run(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = flow.dispatch @k::@either(%a) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
