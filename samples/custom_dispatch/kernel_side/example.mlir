// A program that calls the kernels of kernels.cu. What it declares must be what the kernels' records say (rule K-21): try
// another workgroup_size, or leave ReadOnly out.
//
//   tenon-compile example.mlir --object-search-path=. -o example.tenon
//   tenon-run example.tenon --function=scaled_sums --input=2x3xf32=1,2,3,4,5,6 --input=2xf32=100,200
//   2xf32=112 230

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#cuda_target = #hal.device.target<"cuda", [#sm_80]> : !hal.device

module @example attributes {hal.device.targets = [#cuda_target]} {
  hal.executable.source private @kernels <
    objects = #hal.executable.objects<{
      #sm_80 = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>]
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

    hal.executable.export public @row_sums ordinal(1)
        layout(#hal.pipeline.layout<constants = [i32], bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %rows: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %rows, %c1, %c1 : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index], workgroup_local_memory = 256 : index>
  }

  // 2 * (sums of the rows) + offsets
  func.func @scaled_sums(%matrix: tensor<?x?xf32>, %offsets: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %two = arith.constant 2.0 : f32
    %rows = tensor.dim %matrix, %c0 : tensor<?x?xf32>
    %columns = tensor.dim %matrix, %c1 : tensor<?x?xf32>
    %rows_i32 = arith.index_cast %rows : index to i32
    %columns_i32 = arith.index_cast %columns : index to i32
    %sums = flow.dispatch @kernels::@row_sums[%rows](%columns_i32, %matrix)
        : (i32, tensor<?x?xf32>{%rows, %columns}) -> tensor<?xf32>{%rows}
    %result = flow.dispatch @kernels::@saxpy[%rows](%two, %rows_i32, %sums, %offsets)
        : (f32, i32, tensor<?xf32>{%rows}, tensor<?xf32>{%rows}) -> %offsets{%rows}
    return %result : tensor<?xf32>
  }
}
