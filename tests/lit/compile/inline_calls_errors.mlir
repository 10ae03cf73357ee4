// RUN: not tenon-compile %s -o %t.tenon 2>&1 | FileCheck %s

// CHECK: inline_calls_errors.mlir:10:8: error: 'func.call' op cannot be inlined: '@elsewhere' has no body
// CHECK: inline_calls_errors.mlir:[[#@LINE+1]]:1: note: '@elsewhere' is here
func.func private @elsewhere(%a: i32) -> i32
// The error is at the call.
// CHECK: inline_calls_errors.mlir:18:8: error: 'func.call' op cannot be inlined: '@again' calls itself
// CHECK: inline_calls_errors.mlir:26:8: error: 'func.call' op cannot be inlined: '@about' calls itself
func.func @external(%a: i32) -> i32 {
  %0 = call @elsewhere(%a) : (i32) -> i32
  return %0 : i32
}
func.func @recursive(%a: i32) -> i32 {
  %0 = call @again(%a) : (i32) -> i32
  return %0 : i32
}
func.func private @again(%a: i32) -> i32 {
  %0 = call @again(%a) : (i32) -> i32
  return %0 : i32
}
func.func private @about(%a: i32) -> i32 {
  %0 = call @round(%a) : (i32) -> i32
  return %0 : i32
}
func.func private @round(%a: i32) -> i32 {
  %0 = call @about(%a) : (i32) -> i32
  return %0 : i32
}
func.func @recursive_through_another(%a: i32) -> i32 {
  %0 = call @about(%a) : (i32) -> i32
  return %0 : i32
}
