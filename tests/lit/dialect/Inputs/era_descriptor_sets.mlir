// The sample with descriptor sets spelt out, exports without ordinals, and a target that names no device type.
#nvptx_sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#nvptx_sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#nvptx_sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda_target = #hal.device.target<"cuda", [#nvptx_sm_75, #nvptx_sm_80, #nvptx_sm_90]>
#layout_0 = #hal.pipeline.layout<push_constants = 1, sets = [
  #hal.descriptor_set.layout<0, bindings = [
    #hal.descriptor_set.binding<0, storage_buffer, ReadOnly>,
    #hal.descriptor_set.binding<1, storage_buffer, "ReadOnly">,
    #hal.descriptor_set.binding<2, storage_buffer>
  ]>
]>
#layout_1 = #hal.pipeline.layout<push_constants = 1, sets = [
  #hal.descriptor_set.layout<0, bindings = [#hal.descriptor_set.binding<0, storage_buffer, ReadOnly>]>,
  #hal.descriptor_set.layout<1, bindings = [#hal.descriptor_set.binding<0, storage_buffer>]>
]>

module @example attributes {hal.device.targets = [#cuda_target]} {
  hal.executable.source private @executable attributes {
    objects = #hal.executable.objects<{
      #nvptx_sm_75 = [#hal.executable.object<{path = "kernels_sm_75.ptx"}>],
      #nvptx_sm_80 = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>],
      #nvptx_sm_90 = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>]
    }>
  } {
    hal.executable.export @simple_mul layout(#layout_0) attributes {workgroup_size = [64 : index]} {
    ^bb0(%device: !hal.device, %workload: index):
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    }
    hal.executable.export @simple_mul_inplace layout(#layout_1) attributes {workgroup_size = [64 : index, 1 : index]} {
    ^bb0(%device: !hal.device, %workload: index):
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    }
  }
  func.func @mixed_invocation(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
    %dim_i32 = arith.index_cast %dim : index to i32
    %0 = flow.dispatch @executable::@simple_mul[%dim](%dim_i32, %arg0, %arg1) : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> tensor<?xf32>{%dim}
    %1 = arith.addf %0, %arg1 : tensor<?xf32>
    %2 = flow.dispatch @executable::@simple_mul_inplace[%dim](%dim_i32, %0, %1) : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> %1{%dim}
    return %2 : tensor<?xf32>
  }
}
