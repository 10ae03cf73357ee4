// RUN: tenon-opt %s --split-input-file --tenon-read-input --verify-diagnostics

// expected-error @+1 {{'func.func' op has argument #0, a buffer view that no hal.tensor.import makes a tensor of: its shape is not known}}
func.func @unknown(%x: !hal.buffer_view) -> !hal.buffer_view {
  return %x : !hal.buffer_view
}

// -----

func.func @other_shape(%x: !hal.buffer_view) {
  // expected-error @+1 {{'hal.tensor.import' op found a buffer view of 'tensor<4xf64>' as 'tensor<8xf32>': the same shape is wanted}}
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf64> as tensor<8xf32>
  return
}

// -----

func.func @other_kind(%x: tensor<4xf32>) -> !hal.buffer_view {
  // expected-error @+1 {{'hal.tensor.export' op found 'i64' as 'f32': elements of as many bits, or two floats, or two integers are wanted}}
  %0 = hal.tensor.export %x : tensor<4xi64> as tensor<4xf32> -> !hal.buffer_view
  return %0 : !hal.buffer_view
}

// -----

func.func @two(%x: !hal.buffer_view, %n: index) {
  // expected-note @+1 {{the same buffer view is a 'tensor<4xf32>' here}}
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
  // expected-error @+1 {{'hal.tensor.import' op has type 'tensor<?xf32>'}}
  %1 = hal.tensor.import %x : !hal.buffer_view -> tensor<?xf32>{%n}
  return
}

// -----

func.func @chosen(%x: !hal.buffer_view, %c: i1) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
  %1 = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  // expected-error @+1 {{'arith.select' op takes a buffer view; what is read of one is hal.tensor.import and hal.buffer_view.dim}}
  %2 = arith.select %c, %x, %1 : !hal.buffer_view
  return %2 : !hal.buffer_view
}

// -----

// expected-error @+1 {{'func.func' op takes or returns buffer views, and has no body that says what is in them}}
func.func private @elsewhere(%x: !hal.buffer_view)

// -----

func.func @dimension(%x: !hal.buffer_view) -> index {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
  // expected-error @+1 {{'hal.buffer_view.dim' op asks for dimension 1, the buffer view is a 'tensor<4xf32>'}}
  %1 = hal.buffer_view.dim<%x : !hal.buffer_view>[1] : index
  return %1 : index
}

// -----

func.func @passes(%x: !hal.buffer_view) -> !hal.buffer_view {
  // expected-note @+1 {{the same buffer view is a 'tensor<4xf32>' here}}
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
  // expected-error @+1 {{'func.call' op has type 'tensor<8xf32>'}}
  %1 = call @takes(%x) : (!hal.buffer_view) -> !hal.buffer_view
  return %1 : !hal.buffer_view
}
func.func private @takes(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<8xf32>
  return %x : !hal.buffer_view
}

// -----

func.func @exports(%x: tensor<4xf32>) -> !hal.buffer_view {
  %0 = hal.tensor.export %x : tensor<4xf32> -> !hal.buffer_view
  // expected-error @+1 {{'func.call' op passes ('tensor<4xf32>'), '@takes' takes ('tensor<8xf32>')}}
  %1 = call @takes(%0) : (!hal.buffer_view) -> !hal.buffer_view
  return %1 : !hal.buffer_view
}
func.func private @takes(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<8xf32>
  return %x : !hal.buffer_view
}

// -----

func.func @again(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = call @again(%x) : (!hal.buffer_view) -> !hal.buffer_view
  // expected-error @+1 {{'func.return' op returns a buffer view as operand #0 that no hal.tensor.export made}}
  return %0 : !hal.buffer_view
}
