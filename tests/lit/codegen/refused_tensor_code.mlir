// What no kernel is generated for is named where it stands.
// RUN: tenon-opt %s --tenon-form-dispatches --split-input-file --verify-diagnostics -o /dev/null

#id = affine_map<(d0) -> (d0)>
func.func @element_type(%a: tensor<4xi4>) -> tensor<4xi4> {
  // expected-error @+1 {{no kernel can be generated: an operand has type 'i4'; supported are i1, i8, i16, i32, i64, f16, bf16, f32, f64}}
  %0 = arith.addi %a, %a : tensor<4xi4>
  return %0 : tensor<4xi4>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @value_type(%a: tensor<4xi32>, %e: tensor<4xi32>) -> tensor<4xi32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
    ^bb0(%x: i32, %o: i32):
      // expected-error @+1 {{no kernel can be generated: a value has type 'i128'; supported are i1, i8,}}
      %1 = arith.extsi %x : i32 to i128
      %2 = arith.muli %1, %1 : i128
      %c64 = arith.constant 64 : i128
      %3 = arith.shrui %2, %c64 : i128
      %4 = arith.trunci %3 : i128 to i32
      linalg.yield %4 : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @unknown_math(%a: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{no kernel can be generated: 'math.ipowi' is not supported inside a linalg operation}}
  %0 = math.ipowi %a, %a : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @branch(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      // expected-error @+1 {{no kernel can be generated: 'scf.if' is not supported inside a linalg operation}}
      %1 = scf.if %c -> f32 {
        %2 = arith.negf %x : f32
        scf.yield %2 : f32
      } else {
        scf.yield %x : f32
      }
      linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @result_map(%a: tensor<4x8xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no kernel can be generated: the indexing map of a result, affine_map<(d0, d1) -> (d0)>, must name every parallel loop once and no other}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @encoding(%a: tensor<4xf32, "csr">, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no kernel can be generated: tensor type 'tensor<4xf32, "csr">' has an encoding}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32, "csr">) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      %1 = arith.negf %x : f32
      linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @buffers(%a: memref<4xf32>, %e: memref<4xf32>) {
  // expected-error @+1 {{no kernel can be generated: only linalg operations on tensors are supported}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%e : memref<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @scalar_type(%a: tensor<4xi32>, %s: i128) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  // expected-error @+1 {{no kernel can be generated: an operand has type 'i128'; supported are i1, i8,}}
  %0 = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> ()>, #id], iterator_types = ["parallel"]} ins(%a, %s : tensor<4xi32>, i128) outs(%e : tensor<4xi32>) {
    ^bb0(%x: i32, %y: i128, %o: i32):
      %1 = arith.trunci %y : i128 to i32
      %2 = arith.addi %x, %1 : i32
      linalg.yield %2 : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'arith.addf' is not supported: no kernel is generated for it, and the host cannot run it}}
  %0 = arith.addf %a, %a : tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @too_large(%a: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  // expected-error @+1 {{no kernel can be generated: 'tensor<4294967296x4294967296xf32>' has more than 2^48 elements}}
  %0 = arith.addf %a, %a : tensor<4294967296x4294967296xf32>
  return %0 : tensor<4294967296x4294967296xf32>
}

// -----

// Every finding of a function, not the first alone; what a refused operation holds is not looked at.
func.func @several(%a: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  // expected-error @+1 {{'tensor.extract_slice' is not supported}}
  %0 = tensor.extract_slice %a[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  // expected-error @+1 {{'tensor.insert_slice' is not supported}}
  %1 = tensor.insert_slice %0 into %a[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  // expected-error @+1 {{'scf.if' is not supported}}
  %2 = scf.if %c -> tensor<8xf32> {
    %3 = math.exp %1 : tensor<8xf32>
    scf.yield %3 : tensor<8xf32>
  } else {
    scf.yield %1 : tensor<8xf32>
  }
  return %2 : tensor<8xf32>
}

// -----

// Of integers there is no softmax, and what takes one apart must not take them for floats.
func.func @softmax_of_integers(%x: tensor<4x8xi32>, %e: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // expected-error @+1 {{'linalg.softmax' is not supported: no kernel is generated for it, and the host cannot run it}}
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xi32>) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
