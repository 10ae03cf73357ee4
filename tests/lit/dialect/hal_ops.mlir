// Every operation of hal, read and printed; older spellings come out modern.
// RUN: tenon-opt --mlir-print-local-scope %s | FileCheck %s
// RUN: tenon-opt %s > %t.1
// RUN: tenon-opt %t.1 > %t.2
// RUN: diff %t.1 %t.2
// The generic form says the same.
// RUN: tenon-opt %t.1 --mlir-print-op-generic | tenon-opt | diff %t.1 -

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>

// CHECK-LABEL: hal.executable.source private @source <objects = #hal.executable.objects<{
hal.executable.source private @source attributes {objects = #objects} {
  // The modern form.
  // CHECK: hal.executable.export public @modern ordinal(0) layout(#hal.pipeline.layout<{{.*}}>) count(%[[D:.*]]: !hal.device, %[[X:.*]]: index, %[[Y:.*]]: index) -> (index, index, index) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 1 : index
  // CHECK-NEXT: hal.return %[[X]], %[[Y]], %[[C]] : index, index, index
  // CHECK-NEXT: } <subgroup_size = 32 : index, workgroup_local_memory = 4096 : index, workgroup_size = [64 : index, 2 : index, 1 : index]>
  hal.executable.export public @modern ordinal(0) layout(#layout)
      count(%device: !hal.device, %x: index, %y: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %x, %y, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index, 2 : index, 1 : index], subgroup_size = 32 : index,
                workgroup_local_memory = 4096 : index}
  // The count region behind the attributes.
  // CHECK: hal.executable.export public @older ordinal(1) layout({{.*}}) count(%{{.*}}: !hal.device, %[[W:.*]]: index) -> (index, index, index) {
  // CHECK-NEXT: hal.return %[[W]], %[[W]], %[[W]]
  // CHECK-NEXT: } <workgroup_size = [32 : index]>
  hal.executable.export @older ordinal(1) layout(#layout) attributes {workgroup_size = [32 : index]} {
  ^bb0(%device: !hal.device, %w: index):
    hal.return %w, %w, %w : index, index, index
  }
  // Without an ordinal, a count region or visibility.
  // CHECK: hal.executable.export public @bare layout({{.*}}) <workgroup_size = [1 : index]>
  hal.executable.export @bare layout(#layout) attributes {workgroup_size = [1 : index]}
  // CHECK: hal.executable.export public @conditional layout({{.*}}) condition(%{{.*}}: !hal.device, %[[W2:.*]]: index) -> i1 {
  // CHECK: hal.return %{{.*}} : i1
  // CHECK: } fallback(@bare) <workgroup_size = [1 : index]>
  hal.executable.export @conditional layout(#layout) condition(%device: !hal.device, %w: index) -> i1 {
    %c1024 = arith.constant 1024 : index
    %small = arith.cmpi slt, %w, %c1024 : index
    hal.return %small : i1
  } fallback(@bare) attributes {workgroup_size = [1 : index]}
  // CHECK: hal.executable.constant.block(%{{.*}}: !hal.device) -> (i32, i32) as ("foo", "bar") {
  hal.executable.constant.block(%device: !hal.device) -> (i32, i32) as ("foo", "bar") {
    // CHECK: %ok, %value = hal.device.query<%{{.*}} : !hal.device> key("cuda.device" :: "compute_capability_major") : i1, i32
    %ok, %value = hal.device.query<%device : !hal.device> key("cuda.device" :: "compute_capability_major") : i1, i32
    // CHECK: hal.device.query<%{{.*}} : !hal.device> key("a" :: "b") : i1, i32 = 7 : i32
    %ok1, %value1 = hal.device.query<%device : !hal.device> key("a" :: "b") : i1, i32 = 7 : i32
    hal.return %value, %value1 : i32, i32
  }
  // CHECK: hal.executable.constant.block(%{{.*}}: !hal.device) -> i32 as "baz" {
  hal.executable.constant.block(%device: !hal.device) -> i32 as "baz" {
    %c2 = arith.constant 2 : i32
    hal.return %c2 : i32
  }
  builtin.module {
    func.func @kernel() -> i32 {
      // CHECK: hal.executable.constant.load "foo" : i32
      %0 = hal.executable.constant.load "foo" : i32
      return %0 : i32
    }
  }
}

// CHECK-LABEL: hal.executable public @executable {
hal.executable @executable {
  // CHECK-NEXT: hal.executable.variant public @v80 target(#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>) objects([#hal.executable.object<{path = "a.ptx"}>, #hal.executable.object<{path = "b.ptx"}>]) {
  hal.executable.variant public @v80 target(#sm_80) objects([
    #hal.executable.object<{path = "a.ptx"}>,
    #hal.executable.object<{path = "b.ptx"}>
  ]) {
    // CHECK-NEXT: hal.executable.condition(%[[D:.*]]: !hal.device) -> i1 {
    hal.executable.condition(%device: !hal.device) -> i1 {
      %ok, %value = hal.device.query<%device : !hal.device> key("some" :: "feature") : i1, i1
      hal.return %value : i1
    }
    // CHECK: hal.executable.export public @f
    hal.executable.export @f layout(#layout) attributes {workgroup_size = [1 : index]}
  }
  // CHECK: hal.executable.variant public @v90 target(#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>) objects
  hal.executable.variant @v90, target = #sm_90, objects = [#hal.executable.object<{path = "c.ptx"}>] {
    hal.executable.export @f layout(#layout) attributes {workgroup_size = [1 : index]}
  }
}

// CHECK-LABEL: func.func @extern
func.func @extern(%w: index, %n: i32, %a: tensor<?xf32>, %d: index, %b: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>) {
  // CHECK: %{{.*}}:2 = hal.dispatch.extern "main"[%{{.*}}](%{{.*}}, %[[A:.*]], %[[B:.*]]) : (i32, tensor<?xf32>{%[[N:.*]]}, tensor<4xf32>) -> (tensor<?xf32>{%[[N]]}, %[[B]])
  %0:2 = hal.dispatch.extern "main"[%w](%n, %a, %b) : (i32, tensor<?xf32>{%d}, tensor<4xf32>) -> (tensor<?xf32>{%d}, %b)
    // CHECK-NEXT: count(%{{.*}}: !hal.device, %{{.*}}: index) -> (index, index, index) {
    count(%device: !hal.device, %x: index) -> (index, index, index) {
      hal.return %x, %x, %x : index, index, index
    }
    // CHECK: layout(#hal.pipeline.layout<constants = 1, bindings = [{{.*}}]>)
    layout(#hal.pipeline.layout<push_constants = 1, sets = [
      <0, bindings = [<0, storage_buffer, ReadOnly>, <1, storage_buffer>, <2, storage_buffer>]>
    ]>)
    // CHECK-NEXT: bindings([#hal.interface.binding<0, 0>, #hal.interface.binding<0, 1>, #hal.interface.binding<0, 2>])
    bindings([#hal.interface.binding<0, 0>, #hal.interface.binding<0, 1>, #hal.interface.binding<0, 2>])
    // CHECK-NEXT: objects({#hal.executable.target<{{.*}}"sm_80"}> ordinal(100) = [#hal.executable.object<{path = "a.o"}>], #hal.executable.target<{{.*}}"sm_90"}> if(%{{.*}}: !hal.device) -> i1 {
    objects({
      #sm_80 ordinal(100) = [#hal.executable.object<{path = "a.o"}>],
      #sm_90 if(%device: !hal.device) -> i1 {
        %ok, %value = hal.device.query<%device : !hal.device> key("some" :: "feature") : i1, i32
        hal.return %ok : i1
      } ordinal(200) = [#hal.executable.object<{path = "b.o"}>]
    })
    // CHECK: <workgroup_size = [64 : index]>
    attributes {workgroup_size = [64 : index]}
  // CHECK: hal.dispatch.extern "main"(%[[B]], %[[B]]) {tied_operands = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> %[[B]]
  %1 = hal.dispatch.extern "main"(%b, %b) {tied_operands = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> %b
    count(%device: !hal.device) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    layout(#hal.pipeline.layout<bindings = [<storage_buffer, ReadOnly>, <storage_buffer>]>)
    objects({#sm_80 ordinal(0) = [#hal.executable.object<{path = "a.o"}>]}) attributes {workgroup_size = [64 : index]}
  return %0#0, %0#1 : tensor<?xf32>, tensor<4xf32>
}
