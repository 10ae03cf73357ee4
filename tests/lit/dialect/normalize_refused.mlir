// What is read and not compiled yet is refused by name.
// RUN: tenon-opt --split-input-file --verify-diagnostics %s --tenon-normalize-executables

#objects = #hal.executable.objects<{<"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "a.ptx"}>]}>
#rw = #hal.pipeline.binding<storage_buffer>
#layout = #hal.pipeline.layout<bindings = [#rw]>
#indirect = #hal.pipeline.layout<bindings = [#rw, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">]>
// All of them in one module, all at once.
hal.executable.source private @e attributes {objects = #objects} {
  // expected-error @+1 {{a condition of an export ('f') is not compiled yet}}
  hal.executable.export @f layout(#layout) condition(%device: !hal.device) -> i1 {
    // expected-error @+1 {{'hal.device.query' is not compiled yet}}
    %ok, %value = hal.device.query<%device : !hal.device> key("a" :: "b") : i1, i32
    hal.return %ok : i1
  } fallback(@g) attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{an Indirect binding (binding 1 of 'g') is not compiled yet}}
  hal.executable.export @g layout(#indirect) attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{an Indirect layout ('h') is not compiled yet}}
  hal.executable.export @h layout(#hal.pipeline.layout<bindings = [#rw], flags = Indirect>) attributes {workgroup_size = [1 : index]}
  // expected-error @+1 {{'i' has unknown attribute 'subgroupSize', workgroup_size, subgroup_size or workgroup_local_memory is wanted}}
  hal.executable.export @i layout(#layout) attributes {workgroup_size = [1 : index], subgroupSize = 64}
  // expected-error @+1 {{'hal.executable.constant.block' is not compiled yet}}
  hal.executable.constant.block() -> i32 as "foo" {
    %c1 = arith.constant 1 : i32
    hal.return %c1 : i32
  }
  builtin.module {
    func.func @kernel() -> i32 {
      // expected-error @+1 {{'hal.executable.constant.load' is not compiled yet}}
      %0 = hal.executable.constant.load "foo" : i32
      return %0 : i32
    }
  }
}
hal.executable private @v {
  hal.executable.variant @a target(<"cuda", "cuda-nvptx-fb">) objects([#hal.executable.object<{path = "a.ptx"}>]) {
    // expected-error @+1 {{'hal.executable.condition' is not compiled yet}}
    hal.executable.condition(%device: !hal.device) -> i1 {
      %true = arith.constant true
      hal.return %true : i1
    }
    // expected-error @+1 {{a module inside 'hal.executable.variant' is not compiled yet}}
    builtin.module {}
  }
}
func.func @extern(%a: tensor<4xf32>) {
  // expected-error @+1 {{a condition of an object ('if' in 'main') is not compiled yet}}
  %0 = hal.dispatch.extern "main"(%a) : (tensor<4xf32>) -> %a
    count(%device: !hal.device) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    layout(#layout)
    objects({<"cuda", "cuda-nvptx-fb"> if(%device: !hal.device) -> i1 {
      %true = arith.constant true
      hal.return %true : i1
    } ordinal(0) = [#hal.executable.object<{path = "a.ptx"}>]})
    attributes {workgroup_size = [64 : index]}
  return
}

// -----

#t = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
// expected-error @+2 {{device target 'vulkan' is found, 'cuda' is wanted}}
// expected-error @+1 {{executable target "vulkan-spirv", "vulkan-spirv-fb" is found, "cuda", "cuda-nvptx-fb" is wanted, as in #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>}}
module attributes {hal.device.targets = [#hal.device.target<"vulkan", [#t]>]} {
  hal.executable.source private @e attributes {objects = #hal.executable.objects<{
    #t = [#hal.executable.object<{path = "a.spv"}>]
  }>} {}
}

// -----

// expected-error-re @+1 {{the target has no 'target_arch', one of the known architectures is wanted: {{.*}}sm_90}}
module attributes {hal.device.targets = [#hal.device.target<"cuda", [#hal.executable.target<"cuda", "cuda-nvptx-fb">]>]} {
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
module attributes {hal.device.targets = [#hal.device.target<"cuda", [#sm_80]>]} {
  // expected-warning @+2 {{'e' has no objects for target sm_80 of the module}}
  // expected-error-re @+1 {{objects of 'e' have key #hal.executable.target<"cuda", "cuda-nvptx-fb", {features = "+ptx80"}>: the target has no 'target_arch', one of the known architectures is wanted: {{.*}}}}
  hal.executable.source private @e attributes {objects = #hal.executable.objects<{
    <"cuda", "cuda-nvptx-fb", {features = "+ptx80"}> = [#hal.executable.object<{path = "a.ptx"}>]
  }>} {}
}

// -----

#objects = #hal.executable.objects<{<"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  hal.executable.export @f layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
  hal.executable.export @g layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
}
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{interface bindings [#hal.interface.binding<0, 1>, #hal.interface.binding<0, 0>] are found, bindings by position (<0, 0>, <0, 1>, ..) are wanted: order the operands as the kernel's parameters}}
  %0 = flow.dispatch @e::@f(%a) {hal.interface.bindings = [#hal.interface.binding<0, 1>, #hal.interface.binding<0, 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'flow.dispatch' has unknown attribute 'workgroup_size', tied_operands is wanted}}
  %1 = flow.dispatch @e::@f(%a) {workgroup_size = [1 : index]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'stream.affinity' (a program on several devices) is not compiled yet}}
  %2 = flow.dispatch @e::@f(%a) {stream.affinity = @device} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#objects = #hal.executable.objects<{<"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "a.ptx"}>]}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #objects} {
  hal.executable.export @f layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
  hal.executable.export @g layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index]}
}
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'flow.dispatch' with several entry points [@e::@f, @e::@g] is not compiled yet, one export is wanted}}
  %0 = flow.dispatch {@e::@f, @e::@g}(%a) : (tensor<4xf32>) -> %a
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable private @e {
  // expected-note @+1 {{'a' is declared here}}
  hal.executable.variant @a target(#sm_80) objects([#hal.executable.object<{path = "a.ptx"}>]) {
    // expected-note @+1 {{'f' is declared here}}
    hal.executable.export @f layout(#hal.pipeline.layout<bindings = [#rw]>) count(%device: !hal.device) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [1 : index]}
    // expected-error @+1 {{export 'only_a' of variant 'a' is not in variant 'b': declare it in every variant}}
    hal.executable.export @only_a layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [1 : index]}
  }
  // expected-note @+1 {{'b' is declared here}}
  hal.executable.variant @b target(#sm_90) objects([#hal.executable.object<{path = "b.ptx"}>]) {
    // expected-error @+1 {{export 'f' of variant 'b' has another count region than that of variant 'a': declare it the same in every variant}}
    hal.executable.export @f layout(#hal.pipeline.layout<bindings = [#rw]>) count(%device: !hal.device) -> (index, index, index) {
      %c1 = arith.constant 2 : index
      hal.return %c1, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [1 : index]}
    // expected-error @+1 {{export 'only_b' of variant 'b' is not in variant 'a'}}
    hal.executable.export @only_b layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [1 : index]}
  }
}
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'flow.dispatch' of some variants of 'e' is not compiled yet: name every variant, or write @e::@f}}
  %0 = flow.dispatch @e::@a::@f(%a) : (tensor<4xf32>) -> %a
  return
}
