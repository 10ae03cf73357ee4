// What programs of IREE hold besides dispatches, to results on the emulator.
// RUN: tenon-compile %s -o %t.tenon --target=sm_75
// RUN: tenon-run %t.tenon --function=constants --input=4xf32=1 | FileCheck %s --check-prefix=CONSTANTS
// RUN: tenon-run %t.tenon --function=tied --input=3x2xf32=1.5 --input=3 | FileCheck %s --check-prefix=TIED
// RUN: not tenon-run %t.tenon --function=tied --input=3x2xf32=1.5 --input=4 2>&1 | FileCheck %s --check-prefix=UNTIED
// RUN: tenon-run %t.tenon --function=bits --input="4xf32=1 -2 0 3" | FileCheck %s --check-prefix=BITS
// RUN: tenon-run %t.tenon --function=halves --input="4xi32=1 65536 -1 131073" --input=4 | FileCheck %s --check-prefix=HALVES
// RUN: not tenon-run %t.tenon --function=halves --input="4xi32=1 2 3 4" --input=3 2>&1 | FileCheck %s --check-prefix=UNEQUAL
// RUN: tenon-run %t.tenon --function=reshaped --input="2x3xi32=1 2 3 4 5 6" --input=6 | FileCheck %s --check-prefix=RESHAPED
// RUN: tenon-run %t.tenon --function=called --input=2xi32=20 | FileCheck %s --check-prefix=CALLED

util.global private @offset = dense<[10.0, 11.0, 12.0, 13.0]> : tensor<4xf32>
util.global private @computed : tensor<4xf32>
util.global private @one {noinline} = 1 : i32
util.initializer {
  %0 = util.global.load @offset : tensor<4xf32>
  %1 = flow.tensor.constant dense<1.0> : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  util.global.store %2, @computed : tensor<4xf32>
  util.return
}

// CONSTANTS: 4xf32=12 13 14 15
// CONSTANTS: 3xi32=1 2 3
// CONSTANTS: result[2]: i64=3
util.func public @constants(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xi32>, index) {
  %0 = util.global.load immutable @computed : tensor<4xf32>
  %1 = arith.addf %x, %0 : tensor<4xf32>
  %2 = flow.tensor.dynamic_constant dense<[1, 2, 3]> : tensor<3xi32> -> tensor<?xi32>
  %c0 = arith.constant 0 : index
  %3 = tensor.dim %2, %c0 : tensor<?xi32>
  util.return %1, %2, %3 : tensor<4xf32>, tensor<?xi32>, index
}

// TIED: 3x2xf32=[3 3][3 3][3 3]
// UNTIED: function 'tied': dimension 0 of argument 0 is not argument 1 (argument 0: 3, argument 1: 4)
util.func public @tied(%x: tensor<?x2xf32>, %n: index) -> tensor<?x2xf32> {
  %0 = flow.tensor.tie_shape %x : tensor<?x2xf32>{%n}
  %1 = arith.addf %0, %0 : tensor<?x2xf32>
  util.return %1 : tensor<?x2xf32>
}

// The bits of floats, with the sign taken off.
// BITS: 4xf32=1 2 0 3
util.func public @bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = flow.tensor.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  %1 = flow.tensor.constant dense<0x7fffffff> : tensor<4xi32>
  %2 = arith.andi %0, %1 : tensor<4xi32>
  %3 = flow.tensor.bitcast %2 : tensor<4xi32> -> tensor<4xf32>
  util.return %3 : tensor<4xf32>
}

// HALVES: 4x2xi16=[1 0][0 1][-1 -1][1 2]
// UNEQUAL: function 'halves': dimension 0 of argument 0 is not argument 1 (argument 0: 4, argument 1: 3)
util.func public @halves(%x: tensor<?xi32>, %n: index) -> tensor<?x2xi16> {
  %0 = flow.tensor.bitcast %x : tensor<?xi32>{%n} -> tensor<?x2xi16>{%n}
  util.return %0 : tensor<?x2xi16>
}

// RESHAPED: 6xi32=2 4 6 8 10 12
util.func public @reshaped(%x: tensor<2x3xi32>, %n: index) -> tensor<?xi32> {
  %0 = flow.tensor.reshape %x : tensor<2x3xi32> -> tensor<?xi32>{%n}
  %1 = arith.addi %0, %0 : tensor<?xi32>
  util.return %1 : tensor<?xi32>
}

// A call whose result is tied, a scalar global, an older constant.
// CALLED: 2xi32=42 42
util.func private @plus(%x: tensor<2xi32>, %y: tensor<2xi32>) -> %x {
  %0 = arith.addi %x, %y : tensor<2xi32>
  util.return %0 : tensor<2xi32>
}
util.func public @called(%x: tensor<2xi32>) -> tensor<2xi32> {
  %one = util.global.load @one : i32
  %ones = tensor.splat %one : tensor<2xi32>
  %0 = util.call @plus(%x, %ones) : (tensor<2xi32>, tensor<2xi32>) -> %x
  %1 = util.call @plus(%0, %0) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>)
  util.return %1 : tensor<2xi32>
}
