// Objects for sm_90 alone, and for every kernel a function that computes the same: what sm_80 runs.
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda = #hal.device.target<"cuda", [#sm_80, #sm_90]> : !hal.device
#in = #hal.pipeline.binding<storage_buffer, ReadOnly>
#out = #hal.pipeline.binding<storage_buffer>

module @fallbacks attributes {hal.device.targets = [#cuda]} {
  hal.executable.source private @kernels attributes {
    objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>]}>
  } {
    hal.executable.export public @multiply ordinal(0)
        layout(#hal.pipeline.layout<constants = 1, bindings = [#in, #in, #out]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @multiply_in_mlir}

    hal.executable.export public @accumulate ordinal(1)
        layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [#in, #out]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @accumulate_in_mlir}

    hal.executable.export public @product ordinal(2)
        layout(#hal.pipeline.layout<constants = [i32, i32, i32], bindings = [#in, #in, #out]>)
        count(%device: !hal.device, %m: index, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 8)>()[%n]
      %y = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%m]
      %c1 = arith.constant 1 : index
      hal.return %x, %y, %c1 : index, index, index
    } attributes {workgroup_size = [8 : index, 4 : index], tenon.fallback = @product_in_mlir}

    hal.executable.export public @negate ordinal(3)
        layout(#hal.pipeline.layout<constants = [i32], bindings = [#in, #out]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @negate_in_mlir}
  }

  // What sm_80 cannot do at all: a tensor map, 210 KB of shared memory, clusters.
  hal.executable.source private @hopper attributes {
    objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>,
                                                 #hal.executable.object<{path = "tensor_map_sm_90.ptx"}>]}>
  } {
    hal.executable.export public @line ordinal(0)
        layout(#hal.pipeline.layout<constants = [tuple<i1, i64, f32, i16>], bindings = [#in, #out]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @line_in_mlir}

    hal.executable.export public @twice ordinal(1)
        layout(#hal.pipeline.layout<constants = [i32], bindings = [#in, #out]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], workgroup_local_memory = 210000 : index, tenon.fallback = @twice_in_mlir}

    hal.executable.export public @twice_in_pairs ordinal(3)
        layout(#hal.pipeline.layout<constants = [i32], bindings = [#in, #out]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> ((s0 ceildiv 128) * 2)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.cluster = [2], tenon.fallback = @twice_in_mlir}

    hal.executable.export public @scale_tiles ordinal(2)
        layout(#hal.pipeline.layout<
          constants = [!hal.tensor_map<binding = 0, 8x16xf32, promotion = L2B128, alignment = 128>, i32, i32],
          bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly, alignment = 16>, #out]>)
        count(%device: !hal.device, %rows: index, %columns: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 16)>()[%columns]
      %y = affine.apply affine_map<()[s0] -> (s0 ceildiv 8)>()[%rows]
      %c1 = arith.constant 1 : index
      hal.return %x, %y, %c1 : index, index, index
    } attributes {workgroup_size = [128 : index], tenon.fallback = @scale_in_mlir}
  }

  // The members of the tuple, one by one, as a dispatch passes them.
  func.func private @line_in_mlir(%negative: i1, %n: i64, %slope: f32, %shift: i16,
                                  %in: tensor<?xf32> {tenon.dims = array<i64: 1>}) -> tensor<?xf32> {
    %size = arith.index_cast %n : i64 to index
    %other = arith.negf %slope : f32
    %signed = arith.select %negative, %other, %slope : f32
    %offset = arith.sitofp %shift : i16 to f32
    %factors = tensor.splat %signed[%size] : tensor<?xf32>
    %offsets = tensor.splat %offset[%size] : tensor<?xf32>
    %0 = arith.mulf %factors, %in : tensor<?xf32>
    %1 = arith.addf %0, %offsets : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func private @twice_in_mlir(%n: i32, %in: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> tensor<?xf32> {
    %0 = arith.addf %in, %in : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  // Nothing is passed for a tensor map.
  func.func private @scale_in_mlir(%rows: i32, %columns: i32, %in: tensor<?x?xf32> {tenon.dims = array<i64: 0, 1>})
      -> tensor<?x?xf32> {
    %0 = arith.addf %in, %in : tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }

  func.func private @multiply_in_mlir(%n: i32, %lhs: tensor<?xf32> {tenon.dims = array<i64: 0>},
                                      %rhs: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> tensor<?xf32> {
    %0 = arith.mulf %lhs, %rhs : tensor<?xf32>
    return %0 : tensor<?xf32>
  }

  // Public: a function of the program as well, which tenon-check-kernel takes as a reference.
  func.func @accumulate_in_mlir(%a: f32, %n: i32, %x: tensor<?xf32> {tenon.dims = array<i64: 1>},
                                %y: tensor<?xf32> {tenon.dims = array<i64: 1>})
      -> (tensor<?xf32> {tenon.tied = 3 : i64}) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %splat = tensor.splat %a[%d] : tensor<?xf32>
    %0 = arith.mulf %splat, %x : tensor<?xf32>
    %1 = arith.addf %y, %0 : tensor<?xf32>
    return %1 : tensor<?xf32>
  }

  func.func @product_in_mlir(%m: i32, %n: i32, %k: i32, %a: tensor<?x?xf32> {tenon.dims = array<i64: 0, 2>},
                             %b: tensor<?x?xf32> {tenon.dims = array<i64: 2, 1>}) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = tensor.dim %a, %c0 : tensor<?x?xf32>
    %columns = tensor.dim %b, %c1 : tensor<?x?xf32>
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }

  func.func private @negated(%in: tensor<?xf32>) -> tensor<?xf32> {
    %0 = arith.negf %in : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func private @negate_in_mlir(%n: i32, %in: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> tensor<?xf32> {
    %0 = func.call @negated(%in) : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }

  // x * y + 2 * (x * y), and its product with a matrix
  func.func @run(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %n = arith.index_cast %d : index to i32
    %two = arith.constant 2.0 : f32
    %0 = flow.dispatch @kernels::@multiply[%d](%n, %x, %y) : (i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
    %1 = arith.addf %0, %x : tensor<?xf32>
    %2 = flow.dispatch @kernels::@accumulate[%d](%two, %n, %0, %1) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %1{%d}
    return %2 : tensor<?xf32>
  }

  // 2 * (2 * (2 * (3 - x)))
  func.func @run_hopper(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
    %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
    %size = arith.muli %rows, %columns : index
    %n = arith.index_cast %size : index to i32
    %n64 = arith.index_cast %size : index to i64
    %rows32 = arith.index_cast %rows : index to i32
    %columns32 = arith.index_cast %columns : index to i32
    %true = arith.constant true
    %one = arith.constant 1.0 : f32
    %three = arith.constant 3 : i16
    %0 = flow.dispatch @hopper::@line[%size](%true, %n64, %one, %three, %x)
        : (i1, i64, f32, i16, tensor<?x?xf32>{%rows, %columns}) -> tensor<?x?xf32>{%rows, %columns}
    %1 = flow.dispatch @hopper::@twice[%size](%n, %0)
        : (i32, tensor<?x?xf32>{%rows, %columns}) -> tensor<?x?xf32>{%rows, %columns}
    %2 = flow.dispatch @hopper::@scale_tiles[%rows, %columns](%rows32, %columns32, %1)
        : (i32, i32, tensor<?x?xf32>{%rows, %columns}) -> tensor<?x?xf32>{%rows, %columns}
    %3 = flow.dispatch @hopper::@twice_in_pairs[%size](%n, %2)
        : (i32, tensor<?x?xf32>{%rows, %columns}) -> tensor<?x?xf32>{%rows, %columns}
    return %3 : tensor<?x?xf32>
  }

  func.func @multiply_matrices(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %a, %c0 : tensor<?x?xf32>
    %k = tensor.dim %a, %c1 : tensor<?x?xf32>
    %n = tensor.dim %b, %c1 : tensor<?x?xf32>
    %m32 = arith.index_cast %m : index to i32
    %n32 = arith.index_cast %n : index to i32
    %k32 = arith.index_cast %k : index to i32
    %0 = flow.dispatch @kernels::@product[%m, %n](%m32, %n32, %k32, %a, %b)
        : (i32, i32, i32, tensor<?x?xf32>{%m, %k}, tensor<?x?xf32>{%k, %n}) -> tensor<?x?xf32>{%m, %n}
    return %0 : tensor<?x?xf32>
  }
}
