// A hand-written kernel for new devices, and a function that the others run instead.
//
//   nvcc -ptx -arch=compute_90 kernels.cu -o kernels_sm_90.ptx
//   tenon-compile fallback.mlir --object-search-path=. -o fallback.tenon
//   tenon-run fallback.tenon --function=mul --input=4xf32=2 --input=4xf32=3

// sm_75 has no object: PTX that is generated for it runs there and on everything up to sm_90.
#nvptx_sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#nvptx_sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda_target = #hal.device.target<"cuda", [#nvptx_sm_75, #nvptx_sm_90]> : !hal.device

module @fallback attributes {hal.device.targets = [#cuda_target]} {
  hal.executable.source private @kernels <
    objects = #hal.executable.objects<{#nvptx_sm_90 = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>]}>
  > {
    // void simple_mul(const float *lhs, const float *rhs, float *result, int size)
    hal.executable.export public @simple_mul ordinal(0)
        layout(#hal.pipeline.layout<constants = 1, bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index]> attributes {tenon.fallback = @simple_mul_in_mlir}

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
    } <workgroup_size = [64 : index, 1 : index, 1 : index]> attributes {tenon.fallback = @simple_mul_inplace_in_mlir}
  }

  // What simple_mul computes, of what a dispatch of it passes. A kernel gets pointers, not tensors: tenon.dims says
  // which argument holds the size of each dynamic dimension.
  func.func private @simple_mul_in_mlir(%size: i32, %lhs: tensor<?xf32> {tenon.dims = array<i64: 0>},
                                        %rhs: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> tensor<?xf32> {
    %0 = arith.mulf %lhs, %rhs : tensor<?xf32>
    return %0 : tensor<?xf32>
  }

  // tenon.tied: the result takes the place of argument 2, as a tied result of a dispatch does.
  func.func private @simple_mul_inplace_in_mlir(%size: i32, %factor: tensor<?xf32> {tenon.dims = array<i64: 0>},
                                                %inout: tensor<?xf32> {tenon.dims = array<i64: 0>})
      -> (tensor<?xf32> {tenon.tied = 2 : i64}) {
    %0 = arith.mulf %inout, %factor : tensor<?xf32>
    return %0 : tensor<?xf32>
  }

  // lhs * rhs * rhs
  func.func @mul(%lhs: tensor<?xf32>, %rhs: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %lhs, %c0 : tensor<?xf32>
    %size = arith.index_cast %dim : index to i32
    %0 = flow.dispatch @kernels::@simple_mul[%dim](%size, %lhs, %rhs)
        : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> tensor<?xf32>{%dim}
    %1 = flow.dispatch @kernels::@simple_mul_inplace[%dim](%size, %rhs, %0)
        : (i32, tensor<?xf32>{%dim}, tensor<?xf32>{%dim}) -> %0{%dim}
    return %1 : tensor<?xf32>
  }
}
