// Every way to declare a kernel ends in the same commands: a source, variants, and a kernel declared where it is used.
// RUN: tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s

#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
module @declarations attributes {hal.device.targets = [#hal.device.target<"cuda", [#sm_75]> : !hal.device]} {
  hal.executable.source private @source attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>
  } {
    hal.executable.export public @copy ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index]} {
    ^bb0(%device: !hal.device, %n: index):
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    }
  }
  hal.executable private @variants {
    hal.executable.variant public @sm_75 target(#sm_75) objects([#hal.executable.object<{path = "kernels.ptx"}>]) {
      hal.executable.export public @copy ordinal(0) layout(#layout)
          count(%device: !hal.device, %n: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [64 : index]}
    }
  }

  // CHECK-LABEL: function 'f'
  // CHECK:         r[[N:[0-9]+]] = dim 0 of input 0
  // CHECK:         r[[X:[0-9]+]] = ceildiv r[[N]], r{{[0-9]+}}
  // CHECK:       commands:
  // CHECK-NEXT:    dispatch 'source'::'copy' grid (r[[X]], [[ONE:r[0-9]+]], [[ONE]]) bindings (b0, b1)
  // CHECK-NEXT:    dispatch 'variants'::'copy' grid (r[[X]], [[ONE]], [[ONE]]) bindings (b1, b2)
  // CHECK-NEXT:    dispatch '{{.*}}'::'copy' grid (r[[X]], [[ONE]], [[ONE]]) bindings (b2, b3)
  // CHECK-NEXT:  results:
  func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %s = arith.index_cast %n : index to i32
    %0 = flow.dispatch @source::@copy[%n](%s, %a) : (i32, tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
    %1 = flow.dispatch @variants::@sm_75::@copy[%n](%s, %0) : (i32, tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
    %2 = hal.dispatch.extern "copy"[%n](%s, %1) : (i32, tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
      count(%device: !hal.device, %w: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%w]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      }
      layout(#layout)
      objects({#sm_75 ordinal(0) = [#hal.executable.object<{path = "kernels.ptx"}>]})
      attributes {workgroup_size = [64 : index]}
    return %2 : tensor<?xf32>
  }
}
