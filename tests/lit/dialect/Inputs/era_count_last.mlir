// `count` behind `attributes`, as one version wanted it.
#target = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
module attributes {hal.device.targets = [#hal.device.target<"cuda", [#target]> : !hal.device]} {
  hal.executable.source private @executable attributes {objects = #hal.executable.objects<{#target = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>]}>} {
    hal.executable.export public @simple_mul ordinal(0)
        layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
        attributes {workgroup_size = [64 : index, 1 : index, 1 : index], subgroup_size = 32 : i32}
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    }
  }
  func.func @mixed_invocation(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    %c8 = arith.constant 8 : index
    %n = arith.constant 8 : i32
    %0 = flow.dispatch @executable::@simple_mul[%c8](%n, %a, %b) : (i32, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = hal.dispatch.extern "simple_mul"[%c8](%n, %0, %b) : (i32, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      }
      layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
      objects({#target ordinal(0) = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>]})
      <workgroup_size = [64 : index, 1 : index, 1 : index]>
    %2 = arith.mulf %1, %0 : tensor<8xf32>
    %3 = arith.divf %2, %b : tensor<8xf32>
    %4 = arith.addf %3, %1 : tensor<8xf32>
    return %4 : tensor<8xf32>
  }
}
