// Which case a number belongs to is not decided by its low bits.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: PASS @wide
// CHECK: PASS @negative

func.func private @chosen(%k: index) -> tensor<i32> {
  %r = scf.index_switch %k -> i32
  case 0 {
    %c = arith.constant 10 : i32
    scf.yield %c : i32
  }
  case -1 {
    %c = arith.constant 20 : i32
    scf.yield %c : i32
  }
  case 4294967297 {
    %c = arith.constant 30 : i32
    scf.yield %c : i32
  }
  default {
    %c = arith.constant 40 : i32
    scf.yield %c : i32
  }
  %t = tensor.from_elements %r : tensor<i32>
  return %t : tensor<i32>
}
func.func @wide() {
  %a = util.unfoldable_constant 4294967296 : index
  %0 = call @chosen(%a) : (index) -> tensor<i32>
  check.expect_eq_const(%0, dense<40> : tensor<i32>) : tensor<i32>
  %b = util.unfoldable_constant 4294967297 : index
  %1 = call @chosen(%b) : (index) -> tensor<i32>
  check.expect_eq_const(%1, dense<30> : tensor<i32>) : tensor<i32>
  %c = util.unfoldable_constant 1 : index
  %2 = call @chosen(%c) : (index) -> tensor<i32>
  check.expect_eq_const(%2, dense<40> : tensor<i32>) : tensor<i32>
  return
}
func.func @negative() {
  %a = util.unfoldable_constant -1 : index
  %0 = call @chosen(%a) : (index) -> tensor<i32>
  check.expect_eq_const(%0, dense<20> : tensor<i32>) : tensor<i32>
  %b = util.unfoldable_constant 4294967295 : index
  %1 = call @chosen(%b) : (index) -> tensor<i32>
  check.expect_eq_const(%1, dense<40> : tensor<i32>) : tensor<i32>
  return
}
