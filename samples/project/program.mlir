// The kernel of kernels.cu, called from a program whose other kernels the compiler generates.
// The objects' targets are those of the build files.
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90a = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}>

module @project {
  hal.executable.source private @kernels <
    objects = #hal.executable.objects<{
      #sm_80 = [#hal.executable.object<{path = "kernels.cu"}>],
      #sm_90a = [#hal.executable.object<{path = "kernels.cu"}>]
    }>
  > {
    hal.executable.export public @saxpy ordinal(0)
        layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 128)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <workgroup_size = [128 : index, 1 : index, 1 : index]>
  }

  // 2 * (3 * x + y): the hand-written kernel, then one that the compiler generates.
  func.func @doubled_saxpy(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %a = arith.constant 3.0 : f32
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %n_i32 = arith.index_cast %n : index to i32
    %sum = flow.dispatch @kernels::@saxpy[%n](%a, %n_i32, %x, %y)
        : (f32, i32, tensor<?xf32>{%n}, tensor<?xf32>{%n}) -> %y{%n}
    %twice = arith.addf %sum, %sum : tensor<?xf32>
    return %twice : tensor<?xf32>
  }
}
