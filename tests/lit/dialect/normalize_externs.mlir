// hal.dispatch.extern becomes a declaration of its own and a flow.dispatch; equal declarations are shared.
// RUN: tenon-opt %s --tenon-normalize-executables --mlir-print-local-scope | FileCheck %s

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>
]>

module {
  // The name is taken.
  func.func private @extern_dispatch_0()

  // CHECK: hal.executable.source private @[[FIRST:extern_dispatch_0_[0-9]+]] <objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "a.ptx"}>]}>> {
  // CHECK-NEXT: hal.executable.export public @main ordinal(0) layout(#hal.pipeline.layout<constants = 1, {{.*}}>) count(%{{.*}}: !hal.device, %[[X:.*]]: index) -> (index, index, index) {
  // CHECK-NEXT: hal.return %[[X]], %[[X]], %[[X]]
  // CHECK-NEXT: } <workgroup_local_memory = 512 : index, workgroup_size = [64 : index, 1 : index, 1 : index]>
  // CHECK: hal.executable.source private @extern_dispatch_1 <objects = {{.*}}path = "b.ptx"
  // CHECK: func.func @f(%[[W:.*]]: index, %[[N:.*]]: i32, %[[A:.*]]: tensor<?xf32>, %[[D:.*]]: index)
  func.func @f(%w: index, %n: i32, %a: tensor<?xf32>, %d: index) -> tensor<?xf32> {
    // CHECK-NEXT: %[[R0:.*]] = flow.dispatch @[[FIRST]]::@main[%[[W]]](%[[N]], %[[A]]) : (i32, tensor<?xf32>{%[[D]]}) -> tensor<?xf32>{%[[D]]}
    %0 = hal.dispatch.extern "main"[%w](%n, %a) : (i32, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
      count(%device: !hal.device, %x: index) -> (index, index, index) {
        hal.return %x, %x, %x : index, index, index
      }
      layout(#layout)
      objects({#sm_80 ordinal(0) = [#hal.executable.object<{path = "a.ptx"}>]})
      attributes {workgroup_size = [64 : index], workgroup_local_memory = 512 : index}
    // The same declaration, its clauses in another order.
    // CHECK-NEXT: %[[R1:.*]] = flow.dispatch @[[FIRST]]::@main[%[[W]]](%[[N]], %[[R0]]) :
    %1 = hal.dispatch.extern "main"[%w](%n, %0) : (i32, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
      layout(#layout)
      objects({#sm_80 ordinal(0) = [#hal.executable.object<{path = "a.ptx"}>]})
      bindings([#hal.interface.binding<0, 0>, #hal.interface.binding<0, 1>])
      count(%device: !hal.device, %x: index) -> (index, index, index) {
        hal.return %x, %x, %x : index, index, index
      }
      attributes {workgroup_size = [64 : index], workgroup_local_memory = 512 : index}
    // Another file. A tied result stays tied.
    // CHECK-NEXT: %[[R2:.*]] = flow.dispatch @extern_dispatch_1::@main[%[[W]]](%[[N]], %[[R0]], %[[R1]]) : (i32, tensor<?xf32>{%[[D]]}, tensor<?xf32>{%[[D]]}) -> %[[R1]]{%[[D]]}
    %2 = hal.dispatch.extern "main"[%w](%n, %0, %1) : (i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %1{%d}
      count(%device: !hal.device, %x: index) -> (index, index, index) {
        hal.return %x, %x, %x : index, index, index
      }
      layout(#layout)
      objects({#sm_80 ordinal(0) = [#hal.executable.object<{path = "b.ptx"}>]})
      attributes {workgroup_size = [64 : index], workgroup_local_memory = 512 : index}
    // CHECK-NEXT: return %[[R2]]
    return %2 : tensor<?xf32>
  }
}
