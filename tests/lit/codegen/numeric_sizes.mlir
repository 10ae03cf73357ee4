// Every element, at every ragged size: a kernel writes positions, another computes with them, a third takes them away.
// RUN: tenon-compile %s --target=sm_75,sm_80,sm_90 -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=0xi32 --expected_output=0xi32
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=1xi32=7 --expected_output=1xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=3xi32=7 --expected_output=3xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=4xi32=7 --expected_output=4xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=5xi32=7 --expected_output=5xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=255xi32=7 --expected_output=255xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=256xi32=7 --expected_output=256xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=257xi32=7 --expected_output=257xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=1027xi32=7 --expected_output=1027xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions --input=1000003xi32=7 --expected_output=1000003xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions2 --input=3x5xi32=7 --expected_output=3x5xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions2 --input=5x8xi32=7 --expected_output=5x8xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions2 --input=33x100xi32=7 --expected_output=33x100xi32=7
// RUN: tenon-run %t.tenon --device=emulator --function=positions2 --input=100x0xi32 --expected_output=100x0xi32

// A wrong expectation is seen.
// RUN: not tenon-run %t.tenon --device=emulator --function=positions --input=257xi32=7 --expected_output=257xi32=8 2>&1 | FileCheck %s --check-prefix=DIFFERS
// DIFFERS: [FAILED]

#id = affine_map<(i) -> (i)>
func.func @positions(%a: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %three = arith.constant 3 : i32
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
    ^bb0(%o: i32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      linalg.yield %j : i32
  } -> tensor<?xi32>
  %1 = util.optimization_barrier %0 : tensor<?xi32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%1, %a : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) {
    ^bb0(%x: i32, %y: i32, %o: i32):
      %s = arith.muli %x, %three : i32
      %t = arith.addi %s, %y : i32
      linalg.yield %t : i32
  } -> tensor<?xi32>
  %3 = util.optimization_barrier %2 : tensor<?xi32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%3 : tensor<?xi32>) outs(%e : tensor<?xi32>) {
    ^bb0(%x: i32, %o: i32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      %s = arith.muli %j, %three : i32
      %t = arith.subi %x, %s : i32
      linalg.yield %t : i32
  } -> tensor<?xi32>
  return %4 : tensor<?xi32>
}

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
func.func @positions2(%a: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi32>
  %n = tensor.dim %a, %c1 : tensor<?x?xi32>
  %et = tensor.empty(%n, %m) : tensor<?x?xi32>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  // Two results, one of them transposed: 1000 * i + j.
  %0:2 = linalg.generic {indexing_maps = [#ij, #ji], iterator_types = ["parallel", "parallel"]} outs(%e, %et : tensor<?x?xi32>, tensor<?x?xi32>) {
    ^bb0(%o: i32, %p: i32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = affine.apply affine_map<(i, j) -> (i * 1000 + j)>(%i, %j)
      %l = arith.index_cast %k : index to i32
      linalg.yield %l, %l : i32, i32
  } -> (tensor<?x?xi32>, tensor<?x?xi32>)
  %1 = util.optimization_barrier %0#1 : tensor<?x?xi32>
  // The transposed one read back the other way.
  %2 = linalg.generic {indexing_maps = [#ij, #ji, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%0#0, %1, %a : tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>) outs(%e : tensor<?x?xi32>) {
    ^bb0(%x: i32, %y: i32, %z: i32, %o: i32):
      %s = arith.subi %x, %y : i32
      %t = arith.addi %s, %z : i32
      linalg.yield %t : i32
  } -> tensor<?x?xi32>
  return %2 : tensor<?x?xi32>
}
