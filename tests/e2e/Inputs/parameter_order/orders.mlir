// One kernel, y = a * x + y, under every order of parameters. A dispatch passes the same whatever it is.
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda = #hal.device.target<"cuda", [#sm_80, #sm_90]> : !hal.device
#in = #hal.pipeline.binding<storage_buffer, ReadOnly>
#out = #hal.pipeline.binding<storage_buffer>

module @orders attributes {hal.device.targets = [#cuda]} {
  // Hand-written for sm_90; sm_80 runs the fallback.
  hal.executable.source private @kernels attributes {
    objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>]}>
  } {
    hal.executable.export public @usual ordinal(0)
        layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [#in, #out]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @axpy}

    hal.executable.export public @scalars_first ordinal(1)
        layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [#in, #out],
        parameters = [constant 1, constant 0, binding 0, binding 1]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @axpy}

    hal.executable.export public @between ordinal(2)
        layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [#in, #out],
        parameters = [binding 1, constant 0, binding 0, constant 1]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @axpy}

    hal.executable.export public @members ordinal(3)
        layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [#in, #out],
        parameters = [struct<32, alignment = 8>(binding 0 at 0, constant 0 at 8, binding 1 at 16, constant 1 at 24)]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @axpy}

    hal.executable.export public @nested ordinal(4)
        layout(#hal.pipeline.layout<constants = [f32, i32], bindings = [#in, #out],
        parameters = [padding<1, alignment = 1>, struct<16, alignment = 8>(binding 1 at 8), constant 1, hidden, binding 0,
                      padding<8, alignment = 8>, constant 0]>)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [64 : index], tenon.fallback = @axpy}
  }

  func.func private @axpy(%a: f32, %n: i32, %x: tensor<?xf32> {tenon.dims = array<i64: 1>},
                          %y: tensor<?xf32> {tenon.dims = array<i64: 1>})
      -> (tensor<?xf32> {tenon.tied = 3 : i64}) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %splat = tensor.splat %a[%d] : tensor<?xf32>
    %0 = arith.mulf %splat, %x : tensor<?xf32>
    %1 = arith.addf %y, %0 : tensor<?xf32>
    return %1 : tensor<?xf32>
  }

  // Each kernel once: y + (a1 + a2 + ...) * x.
  func.func @run(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %n = arith.index_cast %d : index to i32
    %zero = arith.constant 0.0 : f32
    %zeros = tensor.splat %zero[%d] : tensor<?xf32>
    %start = arith.addf %y, %zeros : tensor<?xf32>
    %a0 = arith.constant 1.0 : f32
    %0 = flow.dispatch @kernels::@usual[%d](%a0, %n, %x, %start) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %start{%d}
    %a1 = arith.constant 10.0 : f32
    %1 = flow.dispatch @kernels::@scalars_first[%d](%a1, %n, %x, %0) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %0{%d}
    %a2 = arith.constant 100.0 : f32
    %2 = flow.dispatch @kernels::@between[%d](%a2, %n, %x, %1) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %1{%d}
    %a3 = arith.constant 1000.0 : f32
    %3 = flow.dispatch @kernels::@members[%d](%a3, %n, %x, %2) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %2{%d}
    %a4 = arith.constant 10000.0 : f32
    %4 = flow.dispatch @kernels::@nested[%d](%a4, %n, %x, %3) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %3{%d}
    return %4 : tensor<?xf32>
  }
}
