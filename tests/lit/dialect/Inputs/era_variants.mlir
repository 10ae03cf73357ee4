// The sample as an executable of variants, dispatched by a list of entry points, and by one without a variant.
#nvptx_sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#nvptx_sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#nvptx_sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda_target = #hal.device.target<"cuda", [#nvptx_sm_75, #nvptx_sm_80, #nvptx_sm_90]> : !hal.device
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
#layout_0 = #hal.pipeline.layout<constants = 1, bindings = [#ro, #ro, #rw]>
#layout_1 = #hal.pipeline.layout<constants = 1, bindings = [#ro, #rw]>

module @example attributes {hal.device.targets = [#cuda_target]} {
  hal.executable private @executable {
    hal.executable.variant public @sm_75, target = #nvptx_sm_75, objects = [
      #hal.executable.object<{path = "kernels_sm_75.ptx"}>
    ] {
      hal.executable.export public @simple_mul ordinal(0) layout(#layout_0)
          count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
      hal.executable.export public @simple_mul_inplace ordinal(1) layout(#layout_1)
          count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
    }
    hal.executable.variant public @sm_80 target(#nvptx_sm_80) objects([#hal.executable.object<{path = "kernels_sm_80.ptx"}>]) {
      hal.executable.export public @simple_mul ordinal(0) layout(#layout_0)
          count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
      hal.executable.export public @simple_mul_inplace ordinal(1) layout(#layout_1)
          count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
    }
    hal.executable.variant public @sm_90 target(#nvptx_sm_90) objects([#hal.executable.object<{path = "kernels_sm_90.ptx"}>]) {
      hal.executable.export public @simple_mul ordinal(0) layout(#layout_0)
          count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
      hal.executable.export public @simple_mul_inplace ordinal(1) layout(#layout_1)
          count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
    }
  }
  func.func @mixed_invocation(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
    %dim_i32 = arith.index_cast %dim : index to i32
    %0 = flow.dispatch {@executable::@sm_75::@simple_mul, @executable::@sm_80::@simple_mul, @executable::@sm_90::@simple_mul}[%dim](%dim_i32, %arg0, %arg1) : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> tensor<?xf32>{%dim}
    %1 = arith.addf %0, %arg1 : tensor<?xf32>
    %2 = flow.dispatch @executable::@simple_mul_inplace[%dim](%dim_i32, %0, %1) : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> %1{%dim}
    return %2 : tensor<?xf32>
  }
}
