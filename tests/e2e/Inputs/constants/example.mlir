// A struct by value and a tensor map, dispatched from a program: the struct's members are operands, the map takes its
// extents from the tensor that is bound.
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda_target = #hal.device.target<"cuda", [#sm_90]> : !hal.device

module @example attributes {hal.device.targets = [#cuda_target]} {
  hal.executable.source private @maps attributes {
    objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "tensor_map_sm_90.ptx"}>]}>
  } {
    hal.executable.export public @scale_tiles ordinal(0)
        layout(#hal.pipeline.layout<constants = [
            !hal.tensor_map<binding = 0, 8x16xf32, promotion = L2B128, alignment = 128>, i32, i32
          ], bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly, alignment = 16>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %rows: index, %columns: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 16)>()[%columns]
      %y = affine.apply affine_map<()[s0] -> (s0 ceildiv 8)>()[%rows]
      %c1 = arith.constant 1 : index
      hal.return %x, %y, %c1 : index, index, index
    } attributes {workgroup_size = [128 : index, 1 : index, 1 : index]}
  }

  hal.executable.source private @structs attributes {
    objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "structs_sm_90.ptx"}>]}>
  } {
    hal.executable.export public @mix ordinal(0)
        layout(#hal.pipeline.layout<constants = [i32, tuple<i8, i16, f32, i64, i8>, i32], bindings = [
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %n, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [32 : index, 1 : index, 1 : index]}
  }

  func.func @scale(%in: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = tensor.dim %in, %c0 : tensor<?x?xf32>
    %columns = tensor.dim %in, %c1 : tensor<?x?xf32>
    %rows_i32 = arith.index_cast %rows : index to i32
    %columns_i32 = arith.index_cast %columns : index to i32
    %out = flow.dispatch @maps::@scale_tiles[%rows, %columns](%rows_i32, %columns_i32, %in)
        : (i32, i32, tensor<?x?xf32>{%rows, %columns}) -> tensor<?x?xf32>{%rows, %columns}
    return %out : tensor<?x?xf32>
  }

  func.func @mixed(%a: i8, %b: i16, %c: f32, %d: i64, %e: i8) -> tensor<5xf32> {
    %c1 = arith.constant 1 : index
    %first = arith.constant 1000 : i32
    %last = arith.constant 2000 : i32
    %out = flow.dispatch @structs::@mix[%c1](%first, %a, %b, %c, %d, %e, %last)
        : (i32, i8, i16, f32, i64, i8, i32) -> tensor<5xf32>
    return %out : tensor<5xf32>
  }
}
