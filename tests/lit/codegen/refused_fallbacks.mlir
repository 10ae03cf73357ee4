// A fallback that cannot be a kernel of the export's ABI is refused where it is wrong, with a note at the export.
// RUN: tenon-opt %s --tenon-form-fallbacks --tenon-generate-kernels --split-input-file --verify-diagnostics -o /dev/null

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-error @+1 {{'tenon.fallback' of 'k' is @negate, a function of the module is wanted: did you mean 'negated'?}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @negate}
}
func.func private @negated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{no fallback can be generated for 'k': 'k' has no body}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{no fallback can be generated for 'k': 'k' has control flow, tensor code is wanted}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
  // expected-error @+1 {{'kernels' has both a module of device code and 'tenon.fallback', a fallback of objects is wanted: remove one of them}}
  builtin.module {
  }
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The ABI.
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{passes 2 tensor operands and 1 untied result, the layout of 'k' has 2 bindings: declare a binding for each, or tie a result to the operand that it overwrites}}
func.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{writes result 0 to binding 1 of 'k', which is ReadOnly}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+2 {{passes 2 scalars, the layout of 'k' has 1 constant}}
// expected-error @+1 {{'tenon.dims' of argument 2 names argument 1, which is 'f32': an integer argument of the function is wanted}}
func.func private @f(%n: i32, %a: f32, %x: tensor<?xf32> {tenon.dims = array<i64: 1>}) -> tensor<?xf32> {
  %0 = arith.negf %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{argument 0 is 'i64', 8 bytes wide, constant 0 of 'k' is a 32-bit word}}
func.func private @f(%n: i64, %x: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = arith.negf %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{no fallback can be generated for 'k': the function has no result: return what the kernel writes, tied to the argument that it overwrites ({tenon.tied = N : i64}) where it does}}
func.func private @f(%x: tensor<4xf32>) {
  return
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{no fallback can be generated for 'k': 'tenon.tied' of result 0 is 7 : i64, the number of an argument of the function is wanted}}
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32> {tenon.tied = 7 : i64}) {
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{result 0 is tied to argument 0, which is no tensor argument}}
func.func private @f(%n: i32, %x: tensor<4xf32>) -> (tensor<4xf32> {tenon.tied = 0 : i64}) {
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Sizes.
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+2 {{argument 1 is 'tensor<?xf32>', and 'tenon.dims' does not say which arguments hold its sizes: a kernel is passed pointers and constants only; name an integer argument for each dynamic dimension, {tenon.dims = array<i64: 0, ..>}, or make the shape static}}
// expected-error @+1 {{argument 2 is 'tensor<?x?xf32>', and 'tenon.dims' is array<i64: 0>: a kernel}}
func.func private @f(%n: i32, %x: tensor<?xf32>, %y: tensor<?x?xf32> {tenon.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = arith.negf %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
// expected-error @+1 {{'tenon.dims' of argument 1 names argument 9 of 2: an integer argument of the function is wanted}}
func.func private @f(%n: i32, %x: tensor<?xf32> {tenon.dims = array<i64: 9>}) -> tensor<?xf32> {
  %0 = arith.negf %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The body.
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{the first kernel computes this}}
  %sums = linalg.reduce {arith.addf} ins(%x : tensor<4x8xf32>) outs(%zeros : tensor<4xf32>) dimensions = [1]
  %out = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{no fallback can be generated for 'k': the function takes 2 kernels, one launch is all there is: write it as elementwise code that fuses, or as one linalg operation}}
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
func.func private @f(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no fallback can be generated for 'k': 'tensor.extract_slice' is not supported in a kernel: write elementwise code, or one linalg operation on tensors}}
  %0 = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %1 = arith.negf %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no fallback can be generated for 'k': result 0 is returned as it came: each result must be computed by the kernel; copy a tensor with linalg.copy}}
  return %x : tensor<4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  // expected-note @+1 {{'k' is declared here}}
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.negf %x : tensor<4xf32>
  // expected-error @+1 {{no fallback can be generated for 'k': result 0 is returned twice}}
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Threads run in any order: what is written in place is read nowhere else.
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
func.func private @f(%x: tensor<4x4xf32>) -> (tensor<4x4xf32> {tenon.tied = 0 : i64}) {
  %empty = tensor.empty() : tensor<4x4xf32>
  // expected-error @+1 {{a result is written over argument 0, which is read elsewhere than it is written (affine_map<(d0, d1) -> (d1, d0)>, the result has affine_map<(d0, d1) -> (d0, d1)>): a thread would read what another has written}}
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  hal.executable.export public @k ordinal(0) layout(#layout) attributes {workgroup_size = [64 : index, 1 : index, 1 : index], tenon.fallback = @f}
}
func.func private @f(%n: i32, %x: tensor<?xf32> {tenon.dims = array<i64: 0>}) -> (tensor<?xf16> {tenon.tied = 1 : i64}) {
  // expected-error @+1 {{elements of 'f16' are written over elements of 'f32', elements of one size are wanted}}
  %0 = arith.truncf %x : tensor<?xf32> to tensor<?xf16>
  return %0 : tensor<?xf16>
}
