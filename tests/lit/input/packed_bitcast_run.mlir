// Elements of 4 and 2 bits share bytes in memory, the first in the low bits: what flow.tensor.bitcast sees.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// RUN: env TENON_EMULATOR_QUIET=1 tenon-run %t.tenon --device=emulator --function=weights --input=3xi8=18,52,86 | FileCheck %s --check-prefix=VALUES
// CHECK: PASS @from_bytes
// CHECK: PASS @to_bytes
// CHECK: PASS @from_words
// CHECK: PASS @floats
// CHECK: PASS @as_integers
// VALUES: 2x3xf32=[2 1 4][3 6 5]

func.func @from_bytes() {
  %x = util.unfoldable_constant dense<[[0x21, 0x43], [0x65, 0xF7]]> : tensor<2x2xi8>
  %y = flow.tensor.bitcast %x : tensor<2x2xi8> -> tensor<4x2xi4>
  %z = arith.extsi %y : tensor<4x2xi4> to tensor<4x2xi8>
  check.expect_eq_const(%z, dense<[[1, 2], [3, 4], [5, 6], [7, -1]]> : tensor<4x2xi8>) : tensor<4x2xi8>
  return
}

func.func @to_bytes() {
  %c6 = util.unfoldable_constant 6 : index
  %c3 = arith.constant 3 : index
  %wide = flow.tensor.dynamic_constant dense<[1, 2, 3, 4, 5, -1]> : tensor<6xi8> -> tensor<?xi8>
  %x = arith.trunci %wide : tensor<?xi8> to tensor<?xi4>
  %y = flow.tensor.bitcast %x : tensor<?xi4>{%c6} -> tensor<?xi8>{%c3}
  %z = tensor.cast %y : tensor<?xi8> to tensor<3xi8>
  check.expect_eq_const(%z, dense<[0x21, 0x43, 0xF5]> : tensor<3xi8>) : tensor<3xi8>
  return
}

func.func @from_words() {
  %x = util.unfoldable_constant dense<[0x1B00E4FF]> : tensor<1xi32>
  %y = flow.tensor.bitcast %x : tensor<1xi32> -> tensor<16xi2>
  %z = arith.extui %y : tensor<16xi2> to tensor<16xi8>
  check.expect_eq_const(%z, dense<[3, 3, 3, 3, 0, 1, 2, 3, 0, 0, 0, 0, 3, 2, 1, 0]> : tensor<16xi8>) : tensor<16xi8>
  return
}

// 2.0 and 4.0, 8.0 which is 6.0 at most.
func.func @floats() {
  %x = util.unfoldable_constant dense<[0x42, 0x1E]> : tensor<2xi8>
  %y = flow.tensor.bitcast %x : tensor<2xi8> -> tensor<4xf4E2M1FN>
  %wide = arith.extf %y : tensor<4xf4E2M1FN> to tensor<4xf32>
  %twice = arith.addf %wide, %wide : tensor<4xf32>
  %narrow = arith.truncf %twice : tensor<4xf32> to tensor<4xf4E2M1FN>
  %z = flow.tensor.bitcast %narrow : tensor<4xf4E2M1FN> -> tensor<2xi8>
  check.expect_eq_const(%wide, dense<[1.0, 2.0, -4.0, 0.5]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%z, dense<[0x64, 0x2F]> : tensor<2xi8>) : tensor<2xi8>
  return
}

func.func @as_integers() {
  %x = util.unfoldable_constant dense<[-1, 7, 2, -8]> : tensor<4xi8>
  %i = arith.trunci %x : tensor<4xi8> to tensor<4xi4>
  %f = tensor.bitcast %i : tensor<4xi4> to tensor<4xf4E2M1FN>
  %kept = util.optimization_barrier %f : tensor<4xf4E2M1FN>
  %wide = arith.extf %kept : tensor<4xf4E2M1FN> to tensor<4xf32>
  check.expect_eq_const(%wide, dense<[-6.0, 6.0, 1.0, -0.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}

func.func @weights(%x: tensor<?xi8>) -> tensor<2x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi8>
  %y = flow.tensor.bitcast %x : tensor<?xi8>{%n} -> tensor<2x3xi4>
  %z = arith.sitofp %y : tensor<2x3xi4> to tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
