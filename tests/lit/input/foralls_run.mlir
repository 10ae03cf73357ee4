// Loops of scf.forall run, one thread behind the other.
// RUN: tenon-opt %s --tenon-read-input | FileCheck %s --check-prefix=READ
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s --check-prefix=PASSES
// READ-NOT: scf.forall

// READ-LABEL: func.func @rows
// READ: scf.for
// READ: tensor.insert_slice
// PASSES: PASS @rows
func.func @rows() {
  %x = util.unfoldable_constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %e = tensor.empty() : tensor<3x2xi32>
  %0 = scf.forall (%i) in (3) shared_outs(%o = %e) -> (tensor<3x2xi32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<3x2xi32> to tensor<2xi32>
    %twice = arith.addi %row, %row : tensor<2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %o[%i, 0] [1, 2] [1, 1] : tensor<2xi32> into tensor<3x2xi32>
    }
  } {mapping = [#gpu.block<x>]}
  check.expect_eq_const(%0, dense<[[2, 4], [6, 8], [10, 12]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  return
}

// Steps, bounds that are not known, two results, and a tile at the end that is smaller.
// PASSES: PASS @tiles
func.func @tiles() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %old = util.unfoldable_constant dense<-1> : tensor<3x3xi32>
  %c3 = util.unfoldable_constant 3 : index
  %0:2 = scf.forall (%i, %j) = (0, 1) to (%c3, %c3) step (2, 1)
      shared_outs(%a = %old, %b = %x) -> (tensor<3x3xi32>, tensor<3x3xi32>) {
    %m = affine.min affine_map<(d0)[s0] -> (2, s0 - d0)>(%i)[%c3]
    %part = tensor.extract_slice %x[%i, %j] [%m, 1] [1, 1] : tensor<3x3xi32> to tensor<?x1xi32>
    %sum = arith.addi %part, %part : tensor<?x1xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %a[%i, %j] [%m, 1] [1, 1] : tensor<?x1xi32> into tensor<3x3xi32>
      tensor.parallel_insert_slice %sum into %b[%i, %j] [%m, 1] [1, 1] : tensor<?x1xi32> into tensor<3x3xi32>
    }
  }
  check.expect_eq_const(%0#0, dense<[[-1, 2, 3], [-1, 5, 6], [-1, 8, 9]]> : tensor<3x3xi32>) : tensor<3x3xi32>
  check.expect_eq_const(%0#1, dense<[[1, 4, 6], [4, 10, 12], [7, 16, 18]]> : tensor<3x3xi32>) : tensor<3x3xi32>
  return
}

// A thread reads a shared result as it was before the first: all of them read the row that one of them replaces.
// PASSES: PASS @before
func.func @before() {
  %x = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<4xi32>) {
    %first = tensor.extract_slice %o[0] [1] [1] : tensor<4xi32> to tensor<1xi32>
    %own = tensor.extract_slice %o[%i] [1] [1] : tensor<4xi32> to tensor<1xi32>
    %sum = arith.addi %first, %own : tensor<1xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i] [1] [1] : tensor<1xi32> into tensor<4xi32>
    }
  }
  check.expect_eq_const(%0, dense<[2, 3, 4, 5]> : tensor<4xi32>) : tensor<4xi32>
  return
}

// PASSES: PASS @nested
func.func @nested() {
  %x = util.unfoldable_constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %e = tensor.empty() : tensor<2x2xi32>
  %0 = scf.forall (%i) in (2) shared_outs(%o = %e) -> (tensor<2x2xi32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<2x2xi32> to tensor<1x2xi32>
    %1 = scf.forall (%j) in (2) shared_outs(%p = %row) -> (tensor<1x2xi32>) {
      %cell = tensor.extract_slice %p[0, %j] [1, 1] [1, 1] : tensor<1x2xi32> to tensor<1x1xi32>
      %square = arith.muli %cell, %cell : tensor<1x1xi32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %square into %p[0, %j] [1, 1] [1, 1] : tensor<1x1xi32> into tensor<1x2xi32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<2x2xi32>
    }
  }
  check.expect_eq_const(%0, dense<[[1, 4], [9, 16]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  return
}

// No thread at all.
// PASSES: PASS @none
func.func @none() {
  %x = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
  %c0 = util.unfoldable_constant 0 : index
  %0 = scf.forall (%i) in (%c0) shared_outs(%o = %x) -> (tensor<2xi32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[0] [2] [1] : tensor<2xi32> into tensor<2xi32>
    }
  }
  check.expect_eq(%0, %x) : tensor<2xi32>
  return
}
