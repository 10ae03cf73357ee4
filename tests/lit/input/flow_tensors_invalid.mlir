// RUN: tenon-opt %s --split-input-file --tenon-read-input --verify-diagnostics

func.func @indices(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'flow.tensor.slice' op has 0 start indices, 'tensor<4xf32>' wants 1}}
  %0 = flow.tensor.slice %x[for] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @lengths(%x: tensor<4xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{'flow.tensor.slice' op takes 4 elements of dimension 0, its result has 2}}
  %0 = flow.tensor.slice %x[%c0 for %c4] : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @dims(%x: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  // expected-error @+1 {{'flow.tensor.slice' op has 0 dynamic dimensions for its source, 'tensor<?xf32>' wants 1}}
  %0 = flow.tensor.slice %x[%i for %i] : tensor<?xf32> -> tensor<?xf32>{%i}
  return %0 : tensor<?xf32>
}

// -----

func.func @part(%x: tensor<4xf32>, %y: tensor<2x2xf32>, %i: index) -> tensor<4xf32> {
  // expected-error @+1 {{'flow.tensor.update' op has 'tensor<2x2xf32>' as a part of 'tensor<4xf32>': the same rank and elements are wanted}}
  %0 = flow.tensor.update %y, %x[%i] : tensor<2x2xf32> -> %x as tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tied(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  // expected-error @+1 {{result is tied to '%y', the target is '%x'}}
  %0 = flow.tensor.update %y, %x[%i] : tensor<4xf32> -> %y as tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @element(%x: tensor<4xf32>, %x0: f32, %i: index) -> tensor<4xf32> {
  // expected-error @+1 {{'flow.tensor.store' op has 2 indices, 'tensor<4xf32>' wants 1}}
  %0 = flow.tensor.store %x0, %x[%i, %i] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
