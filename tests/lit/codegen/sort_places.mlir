// A sort whose operand says where each element stood computes those places: no kernel stores them before. The numbers from n
// down to 1, sorted, stood at n - 1 down to 0.
// RUN: tenon-compile %s --target=sm_80 --images=ptx --print-dispatches -o %t.tenon 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// The numbers, and what both results are compared with; not the places. Three of known size are one kernel.
// FORM-COUNT-10: ends here
// FORM-NOT: ends here
// CHECK: PASS @few
// CHECK: PASS @of_a_block
// CHECK: PASS @of_tiles
// CHECK: PASS @known

func.func private @sorted(%n: index) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?xi32>
  %p = tensor.empty(%n) : tensor<?xi64>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %r = arith.subi %n, %i : index
    %v = arith.index_cast %r : index to i32
    linalg.yield %v : i32
  } -> tensor<?xi32>
  %places = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%p : tensor<?xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<?xi64>
  %s:2 = iree_linalg_ext.sort dimension(0) outs(%x, %places : tensor<?xi32>, tensor<?xi64>) {
  ^bb0(%a: i32, %b: i32, %c: i64, %d: i64):
    %less = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %less : i1
  } -> tensor<?xi32>, tensor<?xi64>
  %keys = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %r = arith.addi %i, %c1 : index
    %v = arith.index_cast %r : index to i32
    linalg.yield %v : i32
  } -> tensor<?xi32>
  %from = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%p : tensor<?xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %r = arith.subi %n, %i : index
    %l = arith.subi %r, %c1 : index
    %v = arith.index_cast %l : index to i64
    linalg.yield %v : i64
  } -> tensor<?xi64>
  check.expect_eq(%s#0, %keys) : tensor<?xi32>
  check.expect_eq(%s#1, %from) : tensor<?xi64>
  return
}

func.func @few() {
  %n = util.unfoldable_constant 7 : index
  call @sorted(%n) : (index) -> ()
  return
}

func.func @of_a_block() {
  %n = util.unfoldable_constant 600 : index
  call @sorted(%n) : (index) -> ()
  return
}

func.func @of_tiles() {
  %n = util.unfoldable_constant 4500 : index
  call @sorted(%n) : (index) -> ()
  return
}

func.func @known() {
  %c1 = arith.constant 1 : index
  %c600 = arith.constant 600 : index
  %e = tensor.empty() : tensor<600xi32>
  %p = tensor.empty() : tensor<600xi64>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<600xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %r = arith.subi %c600, %i : index
    %v = arith.index_cast %r : index to i32
    linalg.yield %v : i32
  } -> tensor<600xi32>
  %places = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%p : tensor<600xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<600xi64>
  %s:2 = iree_linalg_ext.sort dimension(0) outs(%x, %places : tensor<600xi32>, tensor<600xi64>) {
  ^bb0(%a: i32, %b: i32, %c: i64, %d: i64):
    %less = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %less : i1
  } -> tensor<600xi32>, tensor<600xi64>
  %keys = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<600xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %r = arith.addi %i, %c1 : index
    %v = arith.index_cast %r : index to i32
    linalg.yield %v : i32
  } -> tensor<600xi32>
  %from = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%p : tensor<600xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %r = arith.subi %c600, %i : index
    %l = arith.subi %r, %c1 : index
    %v = arith.index_cast %l : index to i64
    linalg.yield %v : i64
  } -> tensor<600xi64>
  check.expect_eq(%s#0, %keys) : tensor<600xi32>
  check.expect_eq(%s#1, %from) : tensor<600xi64>
  return
}
