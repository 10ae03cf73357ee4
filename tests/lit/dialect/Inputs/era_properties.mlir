// The sample as IREE 3.13 prints it: properties in <..>, the device as a global, util.func, its own code generator's
// description of the target.
#nvptx_sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {iree_codegen.target_info = #iree_gpu.target<arch = "sm_75", features = "+ptx76", wgp = <compute = fp64|fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8, subgroup = shuffle|arithmetic, dot = dp4xi8toi32, mma = [<NV_WMMA_F32_16x16x16_F16>], subgroup_size_choices = [32], max_workgroup_sizes = [1024, 1024, 64], max_thread_count_per_workgroup = 1024, max_workgroup_memory_bytes = 65536, max_workgroup_counts = [2147483647, 65535, 65535]>>}>
#nvptx_sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {iree_codegen.target_info = #iree_gpu.target<arch = "sm_80", features = "+ptx76", wgp = <compute = fp64|fp32, storage = b64|b32, subgroup = shuffle|arithmetic, subgroup_size_choices = [32], max_workgroup_sizes = [1024, 1024, 64], max_thread_count_per_workgroup = 1024, max_workgroup_memory_bytes = 166912, max_workgroup_counts = [2147483647, 65535, 65535]>>}>
#pipeline_layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
#pipeline_layout1 = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
#device_target_cuda = #hal.device.target<"cuda", [#nvptx_sm_75, #nvptx_sm_80]> : !hal.device
module @example attributes {stream.affinity.default = #hal.device.affinity<@__device_0>} {
  util.global private @__device_0 = #device_target_cuda
  hal.executable.source private @executable <objects = #hal.executable.objects<{#nvptx_sm_75 = [#hal.executable.object<{path = "kernels_sm_75.ptx"}>], #nvptx_sm_80 = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>]}>> {
    hal.executable.export public @simple_mul ordinal(0) layout(#pipeline_layout) count(%arg0: !hal.device, %arg1: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%arg1]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index]>
    hal.executable.export public @simple_mul_inplace ordinal(1) layout(#pipeline_layout1) count(%arg0: !hal.device, %arg1: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%arg1]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <{workgroup_size = [64 : index, 1 : index, 1 : index]}> attributes {iree.note = "kept"}
  }
  util.func private @twice(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) -> (tensor<?xf32>) <inlining_policy = #util.inline.never> {
    %0 = arith.addf %arg0, %arg1 : tensor<?xf32>
    util.return %0 : tensor<?xf32>
  }
  util.func public @mixed_invocation(%arg0: tensor<?xf32> {iree.identifier = "lhs"}, %arg1: tensor<?xf32>) -> (tensor<?xf32> {iree.identifier = "out"}) attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func"}} {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
    %n = util.assume.int %dim<umin = 0, umax = 1048576> : index
    %dim_i32 = arith.index_cast %n : index to i32
    %0 = flow.dispatch @executable::@simple_mul[%n](%dim_i32, %arg0, %arg1) : (i32, tensor<?xf32>{%n}, tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
    %1 = util.call @twice(%0, %arg1) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %2 = flow.dispatch @executable::@simple_mul_inplace[%n](%dim_i32, %0, %1) : (i32, tensor<?xf32>{%n}, tensor<?xf32>{%n}) -> %1{%n}
    util.return %2 : tensor<?xf32>
  }
}
