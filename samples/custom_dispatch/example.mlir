// Hand-written CUDA kernels called from a program whose other kernels the compiler generates.
//
//   nvcc -ptx -arch=compute_80 kernels.cu -o kernels_sm_80.ptx        (and 75, 90)
//   tenon-compile example.mlir --object-search-path=. -o example.tenon
//   tenon-run example.tenon --function=mixed_invocation --input=8xf32=2 --input=8xf32=4
//   8xf32=96 96 96 96 96 96 96 96

// The architectures this program is built for. One file holds them all; the loader picks for the device at hand.
#nvptx_sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#nvptx_sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#nvptx_sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda_target = #hal.device.target<"cuda", [#nvptx_sm_75, #nvptx_sm_80, #nvptx_sm_90]> : !hal.device

module @example attributes {hal.device.targets = [#cuda_target]} {
  // The hand-written kernels: which object serves which target, and what each kernel's parameters are.
  hal.executable.source private @executable <
    objects = #hal.executable.objects<{
      #nvptx_sm_75 = [#hal.executable.object<{path = "kernels_sm_75.ptx"}>],
      #nvptx_sm_80 = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>],
      #nvptx_sm_90 = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>]
    }>
  > {
    // void simple_mul(const float *lhs, const float *rhs, float *result, int size)
    hal.executable.export public @simple_mul ordinal(0)
        layout(#hal.pipeline.layout<constants = 1, bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      // The grid: one thread per element, 64 per block.
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index]>

    // void simple_mul_inplace(const float *factor, float *inout, int size)
    hal.executable.export public @simple_mul_inplace ordinal(1)
        layout(#hal.pipeline.layout<constants = 1, bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index]>
  }

  // (arg0 * arg1 + arg1) * (arg0 * arg1): hand-written, generated, hand-written.
  func.func @mixed_invocation(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
    %dim_i32 = arith.index_cast %dim : index to i32

    // Operands map by position: tensors, then results, are the bindings; scalars are the constants.
    %0 = flow.dispatch @executable::@simple_mul[%dim](%dim_i32, %arg0, %arg1)
        : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> tensor<?xf32>{%dim}

    // Ordinary tensor code between them: the compiler generates this kernel.
    %1 = arith.addf %0, %arg1 : tensor<?xf32>

    // Tied: the result is %1 itself, updated in place.
    %2 = flow.dispatch @executable::@simple_mul_inplace[%dim](%dim_i32, %0, %1)
        : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> %1{%dim}

    return %2 : tensor<?xf32>
  }
}
