// Pointers to globals that no program here has, and patterns of bytes that are no elements.
// RUN: tenon-opt --tenon-read-input --split-input-file --verify-diagnostics %s

util.global private @weights = dense<0.0> : tensor<4xf32>
util.func private @f(%pointer: !util.ptr<tensor<4xf32>>) -> tensor<4xf32> {
  // expected-error @+1 {{uses a pointer that is no util.global.address, which is not supported: write the address in front of it}}
  %0 = util.global.load.indirect %pointer : !util.ptr<tensor<4xf32>> -> tensor<4xf32>
  util.return %0 : tensor<4xf32>
}

// -----

util.global private @weights = dense<0.0> : tensor<4xf32>
util.func public @f() -> !util.ptr<tensor<4xf32>> {
  // expected-error @+1 {{is used by 'util.return', which is not supported: pointers to globals are only loaded from and stored to}}
  %0 = util.global.address @weights : !util.ptr<tensor<4xf32>>
  util.return %0 : !util.ptr<tensor<4xf32>>
}

// -----

util.global private @weights = dense<0.0> : tensor<4xf32>
util.func public @f() -> tensor<8xf32> {
  %pointer = util.global.address @weights : !util.ptr<tensor<4xf32>>
  // expected-error @+1 {{found 'tensor<8xf32>' for a pointer to 'tensor<4xf32>', the same type is wanted}}
  %0 = util.global.load.indirect %pointer : !util.ptr<tensor<4xf32>> -> tensor<8xf32>
  util.return %0 : tensor<8xf32>
}

// -----

util.global private mutable @weights = dense<0.0> : tensor<4xf32>
util.func public @f(%x: tensor<8xf32>) {
  %pointer = util.global.address @weights : !util.ptr<tensor<8xf32>>
  // expected-error @+1 {{stores 'tensor<8xf32>', '@weights' has type 'tensor<4xf32>'}}
  util.global.store.indirect %x, %pointer : tensor<8xf32> -> !util.ptr<tensor<8xf32>>
  util.return
}

// -----

// expected-error @+1 {{found #util.byte_pattern<1> : tensor<8xi4>, a tensor of static shape is wanted whose elements are numbers of whole bytes}}
util.global private @small = #util.byte_pattern<1> : tensor<8xi4>

// -----

// expected-error @+1 {{found #util.uninitialized : tensor<?xf32>, a tensor of static shape is wanted whose elements are numbers of whole bytes}}
util.global private @unsized = #util.uninitialized : tensor<?xf32>
