// Globals that are neither devices nor constants, and calls that fit no function.
// RUN: tenon-opt --tenon-read-input --split-input-file --verify-diagnostics %s

util.global private mutable @state = dense<0.0> : tensor<4xf32>
util.func public @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{stores 'tensor<8xf32>', '@state' has type 'tensor<4xf32>'}}
  util.global.store %x, @state : tensor<8xf32>
  util.return
}

// -----

// expected-error @+1 {{global '@state' has type 'i32' and value 1.000000e+00 : f32, a constant of its type is wanted}}
util.global private mutable @state : i32 = 1.0 : f32
util.func public @f(%x: i32) {
  util.global.store %x, @state : i32
  util.return
}

// -----

util.global private mutable @state = 0 : i32
util.func public @f(%x: i32) -> i64 {
  util.global.store %x, @state : i32
  // expected-error @+1 {{loads 'i64', '@state' has type 'i32'}}
  %0 = util.global.load @state : i64
  util.return %0 : i64
}

// -----

util.global private @fixed = 0 : i32
util.func public @f(%x: i32) {
  // expected-error @+1 {{sets '@fixed', which is not mutable: set it in util.initializer, or write 'mutable @fixed' where it is declared}}
  util.global.store %x, @fixed : i32
  util.return
}

// -----

// expected-error @+1 {{global '@none' has no value: write = dense<..>, or set it in util.initializer}}
util.global private @none : tensor<4xf32>

// -----

// expected-error @+1 {{global '@wrong' has type 'tensor<4xf32>' and value dense<1> : tensor<4xi32>, a constant of its type is wanted}}
util.global private @wrong : tensor<4xf32> = dense<1> : tensor<4xi32>

// -----

// expected-error @+1 {{global 'untyped' has no type: write : TYPE, or = VALUE : TYPE}}
util.global private @untyped

// -----

// expected-error @+1 {{global '@twice' is set 2 times, once is wanted}}
util.global private @twice = 1 : i32
util.initializer {
  %0 = arith.constant 2 : i32
  util.global.store %0, @twice : i32
  util.return
}

// -----

util.func public @f() -> i32 {
  // expected-error @+1 {{names '@gone', which is no global here}}
  %0 = util.global.load @gone : i32
  util.return %0 : i32
}

// -----

util.global private @g = 1 : i32
util.func public @f() -> i64 {
  // expected-error @+1 {{loads 'i64', '@g' has type 'i32'}}
  %0 = util.global.load @g : i64
  util.return %0 : i64
}

// -----

util.global private @a : i32
util.initializer {
  // expected-error @+1 {{needs its own value: the initializer of '@a' loads what depends on it}}
  %0 = util.global.load @a : i32
  util.global.store %0, @a : i32
  util.return
}
util.func public @f() -> i32 {
  %0 = util.global.load @a : i32
  util.return %0 : i32
}

// -----

// expected-error @+1 {{device '@d' has no value, #hal.device.target<"cuda", [..]> : !hal.device is wanted}}
util.global private @d : !hal.device

// -----

// expected-error @+1 {{the module has 2 devices, one is wanted: programs on several devices are not compiled yet}}
module {
  util.global private @a = #hal.device.target<"cuda"> : !hal.device
  util.global private @b = #hal.device.target<"cuda"> : !hal.device
}

// -----

util.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  util.return %x : tensor<4xf32>
}
util.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls '@duoble', which is no function here: did you mean 'double'?}}
  %0 = util.call @duoble(%x) : (tensor<4xf32>) -> tensor<4xf32>
  util.return %0 : tensor<4xf32>
}

// -----

// expected-note @+1 {{'@g' is here}}
util.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  util.return %x : tensor<4xf32>
}
util.func public @f(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has type ('tensor<8xf32>') -> ('tensor<4xf32>'), '@g' has '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = util.call @g(%x) : (tensor<8xf32>) -> tensor<4xf32>
  util.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{result is tied to '%y', which is no argument of the function}}
util.func private @g(%x: tensor<4xf32>) -> %y

// -----

util.func public @f(%x: tensor<4xf32>) -> tensor<3xi32> {
  // expected-error @+1 {{makes 'tensor<3xi32>' (12 bytes) of 'tensor<4xf32>' (16 bytes): equal sizes are wanted}}
  %0 = flow.tensor.bitcast %x : tensor<4xf32> -> tensor<3xi32>
  util.return %0 : tensor<3xi32>
}

// -----

util.func public @f(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error @+1 {{makes elements 'i32' of 'f32': flow.tensor.bitcast reinterprets them}}
  %0 = flow.tensor.reshape %x : tensor<4xf32> -> tensor<4xi32>
  util.return %0 : tensor<4xi32>
}

// -----

util.func public @f() -> tensor<?xf32> {
  // expected-error @+2 {{expected '->' and the type with dynamic dimensions, as in dense<1.0> : tensor<4xf32> -> tensor<?xf32>}}
  %0 = flow.tensor.dynamic_constant dense<1.0> : tensor<4xf32>
  util.return %0 : tensor<?xf32>
}

// -----

util.func public @f() -> tensor<?x?xf32> {
  // expected-error @+1 {{is 'tensor<?x?xf32>', its value is 'tensor<4xf32>': the same element type and rank are wanted, with '?' or equal sizes}}
  %0 = flow.tensor.dynamic_constant dense<1.0> : tensor<4xf32> -> tensor<?x?xf32>
  util.return %0 : tensor<?x?xf32>
}

// -----

#a = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
// expected-error @+1 {{attribute 'objects' is given twice}}
hal.executable.source private @e <objects = #hal.executable.objects<{}>> attributes {objects = #hal.executable.objects<{}>} {
}
