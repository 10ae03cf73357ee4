// What cannot be given up or assigned to.
// RUN: tenon-opt %s --tenon-read-input --split-input-file --verify-diagnostics

// expected-error@+1 {{argument 0 of type 'i32' cannot be given up: a tensor is wanted}}
func.func @number(%n: i32 {tenon.donated}) { return }

// -----

// expected-error@+1 {{'iree.abi.output' of argument 0 is 1 : index, the number of one of 1 results is wanted}}
func.func @output(%x: tensor<4xf32> {iree.abi.output = 1 : index}) -> tensor<4xf32> { return %x : tensor<4xf32> }

// -----

// expected-error@+1 {{'tf.aliasing_output' of argument 0 is "0", the number of one of 1 results is wanted}}
func.func @alias(%x: tensor<4xf32> {tf.aliasing_output = "0"}) -> tensor<4xf32> { return %x : tensor<4xf32> }

// -----

// expected-error@+1 {{'jax.buffer_donor' of argument 0 is 1 : i32, true or false is wanted}}
func.func @donor(%x: tensor<4xf32> {jax.buffer_donor = 1 : i32}) { return }

// -----

// expected-error@+1 {{'tenon.donated' of argument 0 is true, the attribute alone is wanted}}
func.func @given(%x: tensor<4xf32> {tenon.donated = true}) { return }

// -----

util.func public @other_type(%x: !hal.buffer_view, %wait: !hal.fence) -> !hal.buffer_view {
  // expected-note@+1 {{the same buffer view is a 'tensor<4xf32>' here}}
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
  %c = arith.constant dense<1.0> : tensor<2xf32>
  // expected-error@+1 {{has type 'tensor<2xf32>'}}
  %1 = hal.tensor.alias wait(%wait) => %c : tensor<2xf32> to %x : !hal.buffer_view
  %2 = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}
