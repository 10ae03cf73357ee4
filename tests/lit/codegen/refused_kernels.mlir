// A kernel function of another form than codegen/kernel/kernel_function.h says is refused.
// RUN: tenon-opt %s --tenon-print-ptx --split-input-file --verify-diagnostics -o /dev/null

// expected-error @+1 {{a kernel function must hold a linalg.generic}}
func.func @empty(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{only kernel functions with a body are supported in a module of device code}}
func.func private @declared(%a: tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'arith.addf' is not supported in a kernel function}}
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{a kernel function needs 'tenon.elements_per_thread'}}
func.func @no_count(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{'tenon.elements_per_thread' must be 1 or 4}}
func.func @wrong_count(%a: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.elements_per_thread = 3 : i64} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{'tenon.dims' gives 0 sizes, 'tensor<?xf32>' has 1 dynamic dimensions}}
func.func @no_sizes(%n: i64, %a: tensor<?xf32>) -> (tensor<?xf32> {tenon.dims = array<i64: 0>}) attributes {tenon.elements_per_thread = 4 : i64} {
  %0 = arith.index_cast %n : i64 to index
  %e = tensor.empty(%0) : tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{'tenon.dims' names argument 1, which is not an integer argument of the kernel}}
func.func @wrong_size(%n: i64, %a: tensor<?xf32> {tenon.dims = array<i64: 1>}) -> (tensor<?xf32> {tenon.dims = array<i64: 0>}) attributes {tenon.elements_per_thread = 4 : i64} {
  %0 = arith.index_cast %n : i64 to index
  %e = tensor.empty(%0) : tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// expected-error @+1 {{a kernel function must return results of its linalg.generic, each once}}
func.func @returns(%a: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.elements_per_thread = 4 : i64} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @not_an_argument(%a: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.elements_per_thread = 4 : i64} {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{operand 0 of a kernel's operation must be an argument of the kernel function}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%e : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{argument 1 of a kernel has type 'i7'}}
func.func @argument_type(%a: tensor<4xf32>, %b: i7) -> tensor<4xf32> attributes {tenon.elements_per_thread = 4 : i64} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{'tenon.workgroup_size' must be array<i32: x, y, z>, with 'tenon.elements_per_thread' = 1}}
func.func @workgroup(%a: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.elements_per_thread = 4 : i64, tenon.workgroup_size = array<i32: 64, 1, 1>} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{'tenon.tied' of result 0 is 1 : i64, the number of a tensor argument is wanted}}
func.func @tied(%a: tensor<4xf32>, %n: i32) -> (tensor<4xf32> {tenon.tied = 1 : i64}) attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{'tenon.layout' takes 2 scalars and 2 bindings, the kernel function has 1 and 2}}
func.func @layout(%a: tensor<4xf32>, %n: i32) -> tensor<4xf32> attributes {tenon.elements_per_thread = 1 : i64, tenon.layout = #hal.pipeline.layout<constants = [tuple<i32, f32>], bindings = [<storage_buffer, ReadOnly>, <storage_buffer>]>} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{no kernel can be generated: pointers stand within constant 0, whose bytes are arguments of the function: declare a struct that has the constants as members, 'struct<SIZE, alignment = N>(binding 0 at 0, constant 0 at 8)'}}
func.func @filled(%a: tensor<4xf32>, %n: i64, %m: i64) -> tensor<4xf32> attributes {tenon.elements_per_thread = 1 : i64, tenon.layout = #hal.pipeline.layout<constants = [tuple<i64, i64>], bindings = [<storage_buffer, ReadOnly>, <storage_buffer>], parameters = [binding 1, constant 0(binding 0 at 8)]>} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{no kernel can be generated: the layout's parameters leave out binding 0, to which a tensor map leads; generated code reads the tensor and not its map, so list the binding too, or drop the fallback}}
func.func @mapped(%a: tensor<4xf32>, %n: i64, %m: i64) -> tensor<4xf32> attributes {tenon.elements_per_thread = 1 : i64, tenon.layout = #hal.pipeline.layout<constants = [i64, !hal.tensor_map<binding = 0, 4x8xf32>, i64], bindings = [<storage_buffer, ReadOnly, alignment = 16>, <storage_buffer>], parameters = [constant 0, constant 1, binding 1, constant 2]>} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{no kernel can be generated: [K-3] 'parameters' leaves out binding 1: each binding and each constant stands in it once}}
func.func @missing(%a: tensor<4xf32>, %n: i64, %m: i64) -> tensor<4xf32> attributes {tenon.elements_per_thread = 1 : i64, tenon.layout = #hal.pipeline.layout<constants = [i64, i64], bindings = [<storage_buffer, ReadOnly>, <storage_buffer>], parameters = [constant 0, constant 1, binding 0]>} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
