// tenon-check: a row for each expectation, the elements that differ, a count, the exit status. tenon-run says the same.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon
// RUN: not tenon-check %t.tenon > %t.out 2> %t.err
// RUN: FileCheck %s --strict-whitespace --match-full-lines < %t.out
// RUN: FileCheck %s --check-prefix=NOTICE < %t.err
// NOTICE: emulator

module @tests {
  func.func @elements() {
    %a = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %b = arith.addf %a, %a : tensor<2x3xf32>
    // CHECK:PASS @elements check.mlir:[[#@LINE+1]]:5: check.expect_eq_const
    check.expect_eq_const(%b, dense<[[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>
    // CHECK-NEXT:FAIL @elements check.mlir:[[#@LINE+3]]:5: check.expect_almost_eq_const: 2 of 6 elements differ by more than atol 0.1 + rtol 0 * |wanted|, at most by 1
    // CHECK-NEXT:    [0, 1]: got 4, wanted 4.5
    // CHECK-NEXT:    [1, 2]: got 12, wanted 13
    check.expect_almost_eq_const(%b, dense<[[2.0, 4.5, 6.0], [8.05, 10.0, 13.0]]> : tensor<2x3xf32>, atol 0.1) : tensor<2x3xf32>
    return
  }
  func.func @scalars() {
    %1 = arith.constant 1 : i32
    // CHECK-NEXT:FAIL @scalars check.mlir:[[#@LINE+2]]:5: check.expect_false: 1 of 1 element is not zero
    // CHECK-NEXT:    got 1
    check.expect_false(%1) : i32
    return
  }
  // CHECK-NEXT:PASS @calm was called, and expects nothing
  func.func @calm() { return }
  // CHECK-NEXT:SKIP @argument takes 1 argument
  func.func @argument(%a: tensor<2xi32>) {
    check.expect_all_true(%a) : tensor<2xi32>
    return
  }
  // CHECK-NEXT:FAIL @broken check.mlir:[[#@LINE+5]]:10: function 'broken': {{.*}} is negative
  func.func @broken() -> tensor<?xf32> {
    %0 = util.unfoldable_constant 0 : index
    %1 = util.unfoldable_constant 1 : index
    %n = arith.subi %0, %1 : index
    %e = tensor.empty(%n) : tensor<?xf32>
    return %e : tensor<?xf32>
  }
  // CHECK-NEXT:4 functions: 1 expectation holds, 2 failed, 1 call failed, 1 skipped
}

// One that holds, alone:
// RUN: tenon-check %t.tenon --function=calm | FileCheck %s --check-prefix=CALM
// CALM: PASS @calm
// CALM-NEXT: 1 function: 0 expectations hold, 0 failed

// RUN: not tenon-check %t.tenon --function=argument 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: tenon-check: error: nothing was run: no function takes no arguments
// RUN: not tenon-check %t.tenon --function=nobody 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: tenon-check: error: {{.*}}nobody
// RUN: not tenon-check 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: no program given

// RUN: not tenon-run %t.tenon --function=elements 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED: tenon-run: error: function 'elements': 1 of 2 expectations failed
// FAILED-NEXT: check.mlir:{{[0-9]+}}:5: check.expect_almost_eq_const: 2 of 6 elements differ by more than atol 0.1
// FAILED-NEXT: [0, 1]: got 4, wanted 4.5
// RUN: tenon-run %t.tenon --function=argument --input=2xi32=1
// RUN: not tenon-run %t.tenon --function=argument --input="2xi32=1 0" 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: check.expect_all_true: 1 of 2 elements is zero
// ARGUMENT-NEXT: [1]: got 0

// Which code runs, and a record of it, as tenon-run has them. A trace is written of calls that failed, too.
// RUN: tenon-compile %s --target=sm_75,sm_80 -o %t.two.tenon
// RUN: not tenon-check %t.two.tenon --function=elements --trace=%t.json
// RUN: FileCheck %s --check-prefix=BEST --input-file=%t.json
// RUN: not tenon-check %t.two.tenon --function=elements --variant=sm_75 --trace=%t.json
// RUN: FileCheck %s --check-prefix=CHOSEN --input-file=%t.json
// BEST: "name": "call elements", "cat": "call"
// BEST: "cat": "dispatch", {{.*}} "variant": "sm_80"
// CHOSEN: "cat": "dispatch", {{.*}} "variant": "sm_75"
// RUN: not tenon-check %t.tenon --variant=nope 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: tenon-check: error: no executable of {{.*}} has a variant 'nope'
// RUN: not tenon-check %t.tenon --function=elements --no-jit | FileCheck %s --check-prefix=NOJIT
// NOJIT: FAIL @elements no image of export
// NOJIT: no JIT was asked for
// NOJIT: no image runs: one would, but it was ruled out
// NOJIT: 1 function: 0 expectations hold, 0 failed, 1 call failed
// RUN: not tenon-check %t.tenon --function=elements --force-ptx | FileCheck %s --check-prefix=PTX
// PTX: PASS @elements
// RUN: not tenon-check %t.tenon --no-jit --force-ptx 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: --no-jit and --force-ptx exclude each other
// RUN: not tenon-check %t.tenon --function=calm --trace=%t.missing/x.json 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// UNWRITTEN: 1 function: 0 expectations hold, 0 failed
// UNWRITTEN: tenon-check: error: {{.*}}x.json
