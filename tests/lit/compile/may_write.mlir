// A binding that is not declared ReadOnly may be written, tied or not: what is bound there is memory of the call.
// RUN: tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s

#rw = #hal.pipeline.binding<storage_buffer>
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
module @may_write {
  hal.executable.source private @k attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>
  } {
    hal.executable.export public @copy layout(#hal.pipeline.layout<constants = 1, bindings = [#rw, #rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
  }

  // CHECK-LABEL: function 'untied'
  // The input is copied; the first result is not, nobody reads it again.
  // CHECK:       commands:
  // CHECK-NEXT:    copy b0 -> b1
  // CHECK-NEXT:    dispatch 'k'::'copy' {{.*}} bindings (b1, b2)
  // CHECK-NEXT:    dispatch 'k'::'copy' {{.*}} bindings (b2, b3)
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<4xf32> = b3
  func.func @untied(%a: tensor<4xf32>) -> tensor<4xf32> {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0 = flow.dispatch @k::@copy[%w](%n, %a) : (i32, tensor<4xf32>) -> tensor<4xf32>
    %1 = flow.dispatch @k::@copy[%w](%n, %0) : (i32, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
