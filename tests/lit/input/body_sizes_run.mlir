// Sizes that bodies ask for are read in front of them: places that count from the end, as torch-mlir writes x[indices].
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: PASS @from_the_end
// CHECK: PASS @in_loops

func.func @from_the_end() {
  %x = flow.tensor.dynamic_constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32> -> tensor<?x?xi32>
  %places = util.unfoldable_constant dense<[-1, 0, -3, 1]> : tensor<4xi64>
  %c1 = arith.constant 1 : index
  %columns = tensor.dim %x, %c1 : tensor<?x?xi32>
  %e = tensor.empty(%columns) : tensor<4x?xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%places : tensor<4xi64>) outs(%e : tensor<4x?xi32>) {
    ^bb0(%place: i64, %old: i32):
      %zero = arith.constant 0 : i64
      %c0 = arith.constant 0 : index
      %isBehind = arith.cmpi slt, %place, %zero : i64
      %rows = tensor.dim %x, %c0 : tensor<?x?xi32>
      %size = arith.index_cast %rows : index to i64
      %fromEnd = arith.addi %place, %size : i64
      %at = arith.select %isBehind, %fromEnd, %place : i64
      %row = arith.index_cast %at : i64 to index
      %column = linalg.index 1 : index
      %value = tensor.extract %x[%row, %column] : tensor<?x?xi32>
      linalg.yield %value : i32
  } -> tensor<4x?xi32>
  %s = tensor.cast %r : tensor<4x?xi32> to tensor<4x2xi32>
  check.expect_eq_const(%s, dense<[[5, 6], [1, 2], [1, 2], [3, 4]]> : tensor<4x2xi32>) : tensor<4x2xi32>
  return
}

// In a loop of a body, and of a tensor that a loop of the host carries.
func.func @in_loops() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = flow.tensor.dynamic_constant dense<[1, 2, 3]> : tensor<3xi32> -> tensor<?xi32>
  %r = scf.for %turn = %c0 to %c2 step %c1 iter_args(%y = %x) -> (tensor<?xi32>) {
    %n = tensor.dim %y, %c0 : tensor<?xi32>
    %sums = tensor.generate %n {
    ^bb0(%i: index):
      %zero = arith.constant 0 : i32
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%all = %zero) -> (i32) {
        %size = tensor.dim %y, %c0 : tensor<?xi32>
        %left = arith.subi %size, %j : index
        %last = arith.subi %left, %c1 : index
        %value = tensor.extract %y[%last] : tensor<?xi32>
        %counted = arith.index_cast %left : index to i32
        %product = arith.muli %value, %counted : i32
        %next = arith.addi %all, %product : i32
        scf.yield %next : i32
      }
      tensor.yield %sum : i32
    } : tensor<?xi32>
    scf.yield %sums : tensor<?xi32>
  }
  %s = tensor.cast %r : tensor<?xi32> to tensor<3xi32>
  check.expect_eq_const(%s, dense<84> : tensor<3xi32>) : tensor<3xi32>
  return
}
