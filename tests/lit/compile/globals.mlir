// Globals that functions set are variables of the loaded program: they are there in the next call.
// RUN: tenon-opt --tenon-read-input %s | FileCheck %s --check-prefix=OPT
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: not tenon-check %t.tenon | FileCheck %s --check-prefix=RAN
// RUN: not tenon-run %t.tenon --function=early 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: tenon-run %t.tenon --function=swap --input="2xf32=5 6" --expected_output="2xf32=1 2"
// EARLY: tenon-run: error: {{.*}}global 'late' is loaded before it was stored, and it has no initial value

// A value that is set once stays a constant of the program.
// OPT-NOT: @weights
// OPT: util.global private mutable @count
// OPT: util.global private mutable @state
// OPT: func.func private @initializer() attributes {tenon.initializer}
// CHECK: initializer 'initializer'() -> ()
// CHECK: global 'count': i32, bits 0
// CHECK-NEXT: global 'state': tensor<2xf32>, constant [[#]]
// CHECK-NEXT: global 'late': tensor<2xf32>, no initial value
// CHECK-NEXT: global 'fibonacci': i32, bits 0
// CHECK-NEXT: global 'twice': i32, bits 0
util.global private @weights = dense<[1.0, 2.0]> : tensor<2xf32>
util.global private mutable @count = 0 : i32
util.global private mutable @state = dense<[1.0, 2.0]> : tensor<2xf32>
util.global private mutable @late : tensor<2xf32>
util.global private mutable @fibonacci : i32
util.global private @twice : i32

// It loops, so it runs when the program begins.
util.initializer {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %zero, %b = %one) -> (i32, i32) {
    %c = arith.addi %a, %b : i32
    scf.yield %b, %c : i32, i32
  }
  %isEven = arith.constant true
  scf.if %isEven {
    util.global.store %0#0, @fibonacci : i32
  }
  util.return
}
// What is made of a variable is one.
util.initializer {
  %0 = util.global.load @fibonacci : i32
  %1 = arith.addi %0, %0 : i32
  util.global.store %1, @twice : i32
  util.return
}

// RAN: PASS @first
func.func @first() {
  %0 = util.global.load @count : i32
  %one = arith.constant 1 : i32
  %1 = arith.addi %0, %one : i32
  util.global.store %1, @count : i32
  %2 = util.global.load @count : i32
  %is = arith.cmpi eq, %2, %one : i32
  check.expect_true(%is) : i1
  return
}
// RAN: PASS @second {{.*}} check.expect_true
// RAN-NEXT: PASS @second {{.*}} check.expect_true
// RAN-NEXT: PASS @second {{.*}} check.expect_true
func.func @second() {
  %0 = util.global.load @count : i32
  %one = arith.constant 1 : i32
  %is = arith.cmpi eq, %0, %one : i32
  check.expect_true(%is) : i1
  %1 = util.global.load @fibonacci : i32
  %c55 = arith.constant 55 : i32
  %is55 = arith.cmpi eq, %1, %c55 : i32
  check.expect_true(%is55) : i1
  %2 = util.global.load @twice : i32
  %c110 = arith.constant 110 : i32
  %is110 = arith.cmpi eq, %2, %c110 : i32
  check.expect_true(%is110) : i1
  return
}
// A tensor is added to where it lies, and read between two stores.
// RAN: PASS @accumulates {{.*}} check.expect_eq_const
// RAN-NEXT: PASS @accumulates {{.*}} check.expect_eq_const
func.func @accumulates() {
  %0 = util.global.load @state : tensor<2xf32>
  %weights = util.global.load @weights : tensor<2xf32>
  %1 = arith.addf %0, %weights : tensor<2xf32>
  util.global.store %1, @state : tensor<2xf32>
  %2 = util.global.load @state : tensor<2xf32>
  %3 = arith.addf %2, %weights : tensor<2xf32>
  util.global.store %3, @state : tensor<2xf32>
  check.expect_eq_const(%1, dense<[2.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_eq_const(%3, dense<[3.0, 6.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
// RAN: PASS @kept {{.*}} check.expect_eq_const
func.func @kept() {
  %0 = util.global.load @state : tensor<2xf32>
  check.expect_eq_const(%0, dense<[3.0, 6.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
// RAN: FAIL @early global 'late' is loaded before it was stored, and it has no initial value
func.func @early() -> tensor<2xf32> {
  %0 = util.global.load @late : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @set_late(%x: tensor<2xf32>) {
  util.global.store %x, @late : tensor<2xf32>
  return
}
func.func @set_fibonacci(%x: i32) {
  util.global.store %x, @fibonacci : i32
  return
}
// What was there comes out, though the argument goes in.
func.func @swap(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = util.global.load @state : tensor<2xf32>
  util.global.store %x, @state : tensor<2xf32>
  return %0 : tensor<2xf32>
}
