// Blocks of a cluster share what they read of the right operand: the same sums in the same order, so the same bits as
// of blocks that run alone. Rows are three tiles and a bit (the last pair has a block whose tile lies outside), the
// left or the right operand lies across. Such pairs pay off for larger products only, so the choice is put in here: what
// lies along the reduced elements is brought by halves.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies -o %t.alone.mlir
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t.alone.mlir
// RUN: sed -e '/name = "contraction"/s/warpgroup_cluster = 1/warpgroup_cluster = 2/' -e '/^#pipeline_layout1 = /{p;s/pipeline_layout1/halves/;s/binding = 1, 64x64xf16/binding = 1, 32x64xf16/;}' -e '/source private @along/,/source private @across/s/#pipeline_layout1/#halves/' %t.alone.mlir > %t.pairs.mlir
// RUN: tenon-compile %t.alone.mlir --target=sm_90a -o %t.alone.tenon
// RUN: tenon-compile %t.pairs.mlir --target=sm_90a -o %t.pairs.tenon --dump-kernels-to=%t.kernels
// RUN: cat %t.kernels/*.ptx | FileCheck %s --check-prefix=PAIRS
// RUN: tenon-run %t.alone.tenon --device=emulator --function=along --output=@%t.npy
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t.pairs.tenon --device=emulator --function=along --expected_f16_threshold=0 --expected_output=@%t.npy
// RUN: tenon-run %t.alone.tenon --device=emulator --function=across --output=@%t.npy
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t.pairs.tenon --device=emulator --function=across --expected_f16_threshold=0 --expected_output=@%t.npy
// Rows that no map describes are copied by each block for itself, through several tiles.
// RUN: tenon-run %t.pairs.tenon --device=emulator --function=copied --input=2560x63xf16=1 --input=832x63xf16=1 --expected_output=2560x832xf32=63
// ALONE-COUNT-2: warpgroup_cluster = 1
// PAIRS-DAG: .reqnctapercluster 2, 1, 1
// PAIRS-DAG: mbarrier.arrive.shared::cluster.b64
// PAIRS-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster

#identity = affine_map<(i, j) -> (i, j)>

func.func private @numbers(%start: index) -> tensor<400x328xf16> {
  %e = tensor.empty() : tensor<400x328xf16>
  %r = linalg.generic {indexing_maps = [#identity], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<400x328xf16>) {
    ^bb0(%o: f16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %c = arith.constant 31 : index
      %d = arith.constant 61 : index
      %p = arith.muli %i, %c : index
      %q = arith.addi %p, %j : index
      %s = arith.muli %q, %q : index
      %t = arith.addi %s, %start : index
      %u = arith.remui %t, %d : index
      %v = arith.index_cast %u : index to i32
      %w = arith.sitofp %v : i32 to f16
      linalg.yield %w : f16
  } -> tensor<400x328xf16>
  return %r : tensor<400x328xf16>
}

func.func @along() -> tensor<400x400xf16> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %a = call @numbers(%one) : (index) -> tensor<400x328xf16>
  %b = call @numbers(%two) : (index) -> tensor<400x328xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<400x400xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<400x400xf32>) -> tensor<400x400xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : tensor<400x328xf16>, tensor<400x328xf16>) outs(%f : tensor<400x400xf32>) -> tensor<400x400xf32>
  %o = tensor.empty() : tensor<400x400xf16>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<400x400xf32>) outs(%o : tensor<400x400xf16>) {
    ^bb0(%x: f32, %z: f16):
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
  } -> tensor<400x400xf16>
  return %r : tensor<400x400xf16>
}

func.func @across() -> tensor<328x328xf16> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %a = call @numbers(%one) : (index) -> tensor<400x328xf16>
  %b = call @numbers(%two) : (index) -> tensor<400x328xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<328x328xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<328x328xf32>) -> tensor<328x328xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : tensor<400x328xf16>, tensor<400x328xf16>) outs(%f : tensor<328x328xf32>) -> tensor<328x328xf32>
  %o = tensor.empty() : tensor<328x328xf16>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<328x328xf32>) outs(%o : tensor<328x328xf16>) {
    ^bb0(%x: f32, %z: f16):
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
  } -> tensor<328x328xf16>
  return %r : tensor<328x328xf16>
}

func.func @copied(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c0 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
