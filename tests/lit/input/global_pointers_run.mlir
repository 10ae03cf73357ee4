// Globals by their addresses, and constants whose bytes are one number.
// RUN: tenon-opt --tenon-read-input %s | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon
// RUN: tenon-run %t.tenon --function=next --expected_output=i32=8

// CHECK-NOT: util.ptr
// CHECK-NOT: byte_pattern
util.global private @weights {noinline} = #util.byte_pattern<1> : tensor<2x3xi32>
util.global private @halves = #util.byte_pattern<-1> : tensor<4xi16>
util.global private @floats = #util.byte_pattern<320> : tensor<3xf32>
util.global private @anything = #util.uninitialized : tensor<5xf64>
util.global private mutable @count = 7 : i32
util.global private @computed : tensor<3xf32>

util.initializer {
  %from = util.global.address immutable @floats : !util.ptr<tensor<3xf32>>
  %to = util.global.address @computed : !util.ptr<tensor<3xf32>>
  %0 = util.global.load.indirect immutable %from : !util.ptr<tensor<3xf32>> -> tensor<3xf32>
  %1 = arith.addf %0, %0 : tensor<3xf32>
  util.global.store.indirect %1, %to : tensor<3xf32> -> !util.ptr<tensor<3xf32>>
  util.return
}

func.func @constants() {
  %weights = util.global.address @weights : !util.ptr<tensor<2x3xi32>>
  %0 = util.global.load.indirect %weights : !util.ptr<tensor<2x3xi32>> -> tensor<2x3xi32>
  check.expect_eq_const(%0, dense<0x01010101> : tensor<2x3xi32>) : tensor<2x3xi32>
  %1 = util.global.load @halves : tensor<4xi16>
  check.expect_eq_const(%1, dense<-1> : tensor<4xi16>) : tensor<4xi16>
  %computed = util.global.address @computed : !util.ptr<tensor<3xf32>>
  %2 = util.global.load.indirect %computed : !util.ptr<tensor<3xf32>> -> tensor<3xf32>
  check.expect_eq_const(%2, dense<0x40C04040> : tensor<3xf32>) : tensor<3xf32>
  %3 = util.unfoldable_constant #util.byte_pattern<64> : tensor<3xf32>
  check.expect_eq_const(%3, dense<0x40404040> : tensor<3xf32>) : tensor<3xf32>
  return
}

func.func @takes_anything() -> tensor<5xf64> {
  %0 = util.global.load @anything : tensor<5xf64>
  return %0 : tensor<5xf64>
}

// CHECK-LABEL: func.func {{.*}}@next
// CHECK: util.global.load @count : i32
// CHECK: util.global.store %{{.*}}, @count : i32
util.func public @next() -> i32 {
  %pointer = util.global.address @count : !util.ptr<i32>
  %0 = util.global.load.indirect %pointer : !util.ptr<i32> -> i32
  %c1 = arith.constant 1 : i32
  %1 = arith.addi %0, %c1 : i32
  util.global.store.indirect %1, %pointer : i32 -> !util.ptr<i32>
  util.return %1 : i32
}
