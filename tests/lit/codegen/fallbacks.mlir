// Functions that exports name as their fallback become kernels of the exports' own ABI, beside the objects.
// RUN: tenon-opt %s --tenon-inline-calls --tenon-form-fallbacks | FileCheck %s
// RUN: tenon-opt %s --tenon-inline-calls --tenon-form-fallbacks --tenon-generate-kernels | FileCheck %s --check-prefix=OBJECTS
// RUN: tenon-opt %s --tenon-inline-calls --tenon-form-fallbacks --mlir-print-local-scope | sed -n '/builtin.module/,/^    }/p' | sed 's/ attributes {tenon.fallback}//' | tenon-opt --tenon-print-ptx -o /dev/null | FileCheck %s --check-prefix=PTX

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda = #hal.device.target<"cuda", [#sm_80, #sm_90]> : !hal.device
#in = #hal.pipeline.binding<storage_buffer, ReadOnly>
#out = #hal.pipeline.binding<storage_buffer>

module attributes {hal.device.targets = [#cuda]} {
  // CHECK: hal.executable.source private @kernels <objects =
  // OBJECTS: hal.executable.source private @kernels <objects = #hal.executable.objects<{#{{.*}} = [#hal.executable.object<{path = "k.ptx"}>]}>> attributes {tenon.fallback_objects = #hal.executable.objects<{#{{.*}} = [#hal.executable.object<{path = "<generated>/kernels_fallback_sm_80.ptx", data = {{.*}}path = "<generated>/kernels_fallback_sm_90.ptx"
  // OBJECTS-NOT: builtin.module
  hal.executable.source private @kernels attributes {
    objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>
  } {
    // The grid is never looked at: any will do.
    hal.executable.export public @add ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [#in, #in, #out]>)
        attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @public_one}
    hal.executable.export public @update ordinal(1) layout(#hal.pipeline.layout<constants = [f32, i64], bindings = [#out, #in]>)
        attributes {workgroup_size = [16 : index, 8 : index, 2 : index], tenon.fallback = @calls}
    hal.executable.export public @rows ordinal(2) layout(#hal.pipeline.layout<constants = [i32, index], bindings = [#in, #out, #out]>)
        attributes {workgroup_size = [32 : index, 1 : index, 1 : index], tenon.fallback = @sizes}
    // What is passed by value: members that a tuple does not show to the function, a tensor map that it never sees.
    hal.executable.export public @values ordinal(3)
        layout(#hal.pipeline.layout<constants = [i32, tuple<i1, index, i16>, !hal.tensor_map<binding = 0, 4x8xf32>, f32],
                                    bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly, alignment = 16>, #out]>)
        attributes {workgroup_size = [32 : index, 1 : index, 1 : index], tenon.fallback = @by_value}
    hal.executable.export public @alone ordinal(4) layout(#hal.pipeline.layout<bindings = [#in, #out]>)
        attributes {workgroup_size = [32 : index, 1 : index, 1 : index]}
  }
  // CHECK: builtin.module attributes {tenon.fallback} {
  // CHECK: func.func @add(%[[N:.+]]: i32, %[[X:.+]]: tensor<?xf32> {tenon.dims = array<i64: 0>}, %[[Y:.+]]: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> tensor<?xf32> attributes {tenon.elements_per_thread = 1 : i64, tenon.workgroup_size = array<i32: 64, 1, 1>} {
  // CHECK: %[[SIZE:.+]] = arith.index_castui %[[N]] : i32 to index
  // CHECK: tensor.empty(%[[SIZE]])
  // CHECK: linalg.generic {{.*}} ins(%[[X]], %[[Y]]
  // CHECK: func.func @update({{.*}}) -> (tensor<?xf32> {tenon.tied = 0 : i64}) attributes {tenon.elements_per_thread = 1 : i64, tenon.workgroup_size = array<i32: 16, 8, 2>}
  // CHECK-NOT: call
  // CHECK: func.func @rows(
  // CHECK: linalg.generic
  // CHECK: func.func @values({{.*}} attributes {tenon.elements_per_thread = 1 : i64, tenon.layout = #{{.*}}, tenon.workgroup_size
  // CHECK-NOT: func.func @alone
  // CHECK: func.func @public_one
  // CHECK-NOT: func.func private

  // Elements are numbered over the whole grid, and threads step by its size.
  // PTX: .visible .entry add(
  // PTX-NEXT: .param .u64
  // PTX-NEXT: .param .u64
  // PTX-NEXT: .param .u64
  // PTX-NEXT: .param .u32
  // PTX: .reqntid 64, 1, 1
  // PTX-DAG: %nctaid.x
  // PTX-DAG: %nctaid.y
  // PTX-DAG: %nctaid.z
  // PTX-DAG: %ctaid.x
  // PTX-DAG: %ctaid.y
  // PTX-DAG: %ctaid.z
  // What is launched may overlap: no load that the hardware may take from a read-only cache.
  // PTX-NOT: .nc
  // PTX: st.global.b32
  // PTX: bra
  func.func @public_one(%n: i32, %x: tensor<?xf32> {tenon.dims = array<i64: 0>}, %y: tensor<?xf32> {tenon.dims = array<i64: 0>})
      -> tensor<?xf32> {
    %0 = arith.addf %x, %y : tensor<?xf32>
    return %0 : tensor<?xf32>
  }

  // The binding that is updated comes first; the result is no binding of its own.
  // PTX: .visible .entry update(
  // PTX-NEXT: .param .u64
  // PTX-NEXT: .param .u64
  // PTX-NEXT: .param .f32
  // PTX-NEXT: .param .u64
  // PTX-NEXT: )
  // PTX-NEXT: .reqntid 16, 8, 2
  func.func private @scaled(%factor: f32, %x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %0 = tensor.splat %factor[%n] : tensor<?xf32>
    %1 = arith.mulf %0, %x : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func private @calls(%y: tensor<?xf32> {tenon.dims = array<i64: 2>}, %factor: f32, %n: i64,
                           %x: tensor<?xf32> {tenon.dims = array<i64: 2>}) -> (tensor<?xf32> {tenon.tied = 0 : i64}) {
    %0 = func.call @scaled(%factor, %x) : (f32, tensor<?xf32>) -> tensor<?xf32>
    %1 = arith.addf %y, %0 : tensor<?xf32>
    return %1 : tensor<?xf32>
  }

  // Sums and maxima of rows in one pass, returned the other way around; a size is computed from what is passed.
  // PTX: .visible .entry rows(
  // PTX-COUNT-3: .param .u64 .ptr
  // PTX-NEXT: .param .u32
  // PTX-NEXT: .param .u64 rows
  // PTX: .reqntid 32, 1, 1
  func.func private @sizes(%m: i32, %n: index, %x: tensor<?x?xf32> {tenon.dims = array<i64: 0, 1>})
      -> (tensor<?xf32>, tensor<?xf32>) {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %rows = arith.index_cast %m : i32 to index
    %empty = tensor.empty(%rows) : tensor<?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %lows = linalg.fill ins(%lowest : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %0:2 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf32>) outs(%zeros, %lows : tensor<?xf32>, tensor<?xf32>) {
    ^bb0(%value: f32, %sum: f32, %max: f32):
      %s = arith.addf %sum, %value : f32
      %t = arith.maximumf %max, %value : f32
      linalg.yield %s, %t : f32, f32
    } -> (tensor<?xf32>, tensor<?xf32>)
    return %0#1, %0#0 : tensor<?xf32>, tensor<?xf32>
  }
  // PTX: .visible .entry values(
  // PTX-COUNT-2: .param .u64 .ptr
  // PTX-NEXT: .param .u32
  // PTX-NEXT: .param .align 8 .b8 values_param_3[24]
  // PTX-NEXT: .param .align 64 .b8 values_param_4[128]
  // PTX-NEXT: .param .f32
  // PTX-NOT: values_param_4
  // PTX-DAG: ld.param.b64 %{{.*}}, [values_param_3+8]
  // PTX-DAG: ld.param.b8 %{{.*}}, [values_param_3]
  // PTX-DAG: ld.param.{{[bs]}}16 %{{.*}}, [values_param_3+16]
  func.func private @by_value(%rows: i32, %negative: i1, %columns: index, %shift: i16, %factor: f32,
                              %x: tensor<?x?xf32> {tenon.dims = array<i64: 0, 2>}) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf32>
    %other = arith.negf %factor : f32
    %signed = arith.select %negative, %other, %factor : f32
    %by = arith.sitofp %shift : i16 to f32
    %0 = tensor.splat %signed[%m, %columns] : tensor<?x?xf32>
    %1 = tensor.splat %by[%m, %columns] : tensor<?x?xf32>
    %2 = arith.mulf %0, %x : tensor<?x?xf32>
    %3 = arith.addf %2, %1 : tensor<?x?xf32>
    return %3 : tensor<?x?xf32>
  }
}
