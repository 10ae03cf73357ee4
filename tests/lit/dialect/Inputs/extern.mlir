// simple_mul of the sample, declared where it is used, then generated code: (a * b) + b.
#sm = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.index_cast %dim : index to i32
  %0 = hal.dispatch.extern "simple_mul"[%dim](%n, %a, %b) : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> tensor<?xf32>{%dim}
    count(%device: !hal.device, %w: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%w]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    }
    layout(#hal.pipeline.layout<constants = 1, bindings = [
      #hal.pipeline.binding<storage_buffer, ReadOnly>,
      #hal.pipeline.binding<storage_buffer, ReadOnly>,
      #hal.pipeline.binding<storage_buffer>
    ]>)
    objects({ #sm ordinal(0) = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>] })
    attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
  %1 = arith.addf %0, %b : tensor<?xf32>
  return %1 : tensor<?xf32>
}
