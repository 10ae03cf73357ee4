// Scalars of the host and tensors of the boundary, of types that kernels hold as something else.
// RUN: tenon-compile %s -o %t.tenon --target=sm_75
// RUN: tenon-run %t.tenon --function=complex --input=2 --input=1.5 --input=-2 | FileCheck %s --check-prefix=COMPLEX
// RUN: tenon-run %t.tenon --function=reversed --input=3x2xf32=1,2,3,4,5,6 | FileCheck %s --check-prefix=REVERSED
// RUN: tenon-run %t.tenon --function=conjugated --input=3x2xf32=1,2,3,4,5,6 | FileCheck %s --check-prefix=CONJUGATED
// RUN: tenon-run %t.tenon --function=small --input=60 --input=3 | FileCheck %s --check-prefix=SMALL
// RUN: tenon-run %t.tenon --function=nibble --input=5 --input=3 | FileCheck %s --check-prefix=NIBBLE
// RUN: tenon-run %t.tenon --function=extended --input="4xi1=1 0 1 1" --input="4xi16=7 -3 -32768 32767" | FileCheck %s --check-prefix=EXTENDED
// RUN: tenon-run %t.tenon --function=shortened --input="4xi16=7 -3 -32768 32767" | FileCheck %s --check-prefix=SHORTENED
// RUN: tenon-run %t.tenon --function=bytes --input="3xi8=56 48 119" | FileCheck %s --check-prefix=BYTES
// RUN: tenon-run %t.tenon --function=places --input="3xindex=1 2 3" | FileCheck %s --check-prefix=PLACES
// RUN: tenon-run %t.tenon --function=branches --input=1 --input=1xi8=-14 | FileCheck %s --check-prefix=FIRST
// RUN: tenon-run %t.tenon --function=branches --input=0 --input=1xi8=-14 | FileCheck %s --check-prefix=SECOND
// RUN: tenon-run %t.tenon --function=calls --input=2 | FileCheck %s --check-prefix=CALLS
// RUN: tenon-run %t.tenon --function=squares --input=2 --input=1x2xf32=1,2 | FileCheck %s --check-prefix=SQUARES
// RUN: tenon-run %t.tenon --function=until --input=3 | FileCheck %s --check-prefix=UNTIL
// RUN: tenon-run %t.tenon --function=best --input="1x5xindex=8 1 7 9 3" | FileCheck %s --check-prefix=BEST
// RUN: tenon-run %t.tenon --function=gathered --input=2x2xf32=1,2,3,4 --input=2xi32=1,0 | FileCheck %s --check-prefix=GATHERED
// RUN: not tenon-run %t.tenon --function=places --input="3xi64=1 2 3" 2>&1 | FileCheck %s --check-prefix=WRONG

// To i48 and back to what kernels have, as it is and behind a sum.
// SHORTENED: 4xi32=21 -9 -98304 98301
func.func @shortened(%x: tensor<4xi16>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi16>) outs(%e : tensor<4xi32>) {
  ^bb0(%v: i16, %out: i32):
    %long = arith.extsi %v : i16 to i48
    %short = arith.trunci %long : i48 to i32
    %twice = arith.addi %long, %long : i48
    %narrow = arith.trunci %twice : i48 to i32
    %sum = arith.addi %short, %narrow : i32
    linalg.yield %sum : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// From what kernels have to i4 and i48: a product that is longer than the factors, and a truth value that is -1.
// EXTENDED: 4xi64=-15032385514 0 70368744144911 -70366596661234
func.func @extended(%x: tensor<4xi1>, %y: tensor<4xi16>) -> tensor<4xi64> {
  %e = tensor.empty() : tensor<4xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xi1>, tensor<4xi16>) outs(%e : tensor<4xi64>) {
  ^bb0(%b: i1, %v: i16, %out: i64):
    %much = arith.constant 2147483647 : i48
    %few = arith.extsi %b : i1 to i4
    %long = arith.extsi %v : i16 to i48
    %factor = arith.extsi %few : i4 to i48
    %product = arith.muli %long, %much : i48
    %signed = arith.muli %product, %factor : i48
    %wide = arith.extsi %signed : i48 to i64
    %fifteen = arith.extui %few : i4 to i64
    %sum = arith.addi %wide, %fifteen : i64
    linalg.yield %sum : i64
  } -> tensor<4xi64>
  return %r : tensor<4xi64>
}

// COMPLEX: 2x2xf32=[1.5 -2][1.5 -2]
func.func @complex(%n: index, %x: f32, %y: f32) -> tensor<?x2xf32> {
  %c = complex.create %x, %y : complex<f32>
  %e = tensor.empty(%n) : tensor<?xcomplex<f32>>
  %f = linalg.fill ins(%c : complex<f32>) outs(%e : tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  %r = flow.tensor.bitcast %f : tensor<?xcomplex<f32>>{%n} -> tensor<?x2xf32>{%n}
  return %r : tensor<?x2xf32>
}

// Complex numbers that are moved, and not computed with.
// REVERSED: 3x2xf32=[5 6][3 4][1 2]
func.func @reversed(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %last = arith.constant 2 : index
  %e = tensor.empty() : tensor<3xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e : tensor<3xcomplex<f32>>) {
  ^bb0(%out: complex<f32>):
    %i = linalg.index 0 : index
    %at = arith.subi %last, %i : index
    %v = tensor.extract %x[%at] : tensor<3xcomplex<f32>>
    linalg.yield %v : complex<f32>
  } -> tensor<3xcomplex<f32>>
  return %r : tensor<3xcomplex<f32>>
}

// The first as it is, the others conjugated; all as bits and back.
// CONJUGATED: 3x2xf32=[1 2][3 -4][5 -6]
func.func @conjugated(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %first = arith.constant 0 : index
  %e = tensor.empty() : tensor<3xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<3xcomplex<f32>>) outs(%e : tensor<3xcomplex<f32>>) {
  ^bb0(%in: complex<f32>, %out: complex<f32>):
    %i = linalg.index 0 : index
    %isFirst = arith.cmpi eq, %i, %first : index
    %v = scf.if %isFirst -> complex<f32> {
      scf.yield %in : complex<f32>
    } else {
      %c = complex.conj %in : complex<f32>
      scf.yield %c : complex<f32>
    }
    %bits = complex.bitcast %v : complex<f32> to i64
    %back = complex.bitcast %bits : i64 to complex<f32>
    linalg.yield %back : complex<f32>
  } -> tensor<3xcomplex<f32>>
  return %r : tensor<3xcomplex<f32>>
}

// SMALL: 3xi8=64 64 64
func.func @small(%x: i8, %n: index) -> tensor<?xi8> {
  %c = arith.bitcast %x : i8 to f8E5M2
  %f = tensor.splat %c[%n] : tensor<?xf8E5M2>
  %g = arith.addf %f, %f : tensor<?xf8E5M2>
  %r = tensor.bitcast %g : tensor<?xf8E5M2> to tensor<?xi8>
  return %r : tensor<?xi8>
}

// NIBBLE: 3xi8=-6 -6 -6
func.func @nibble(%x: i8, %n: index) -> tensor<?xi8> {
  %c = arith.trunci %x : i8 to i4
  %f = tensor.splat %c[%n] : tensor<?xi4>
  %g = arith.addi %f, %f : tensor<?xi4>
  %r = arith.extsi %g : tensor<?xi4> to tensor<?xi8>
  return %r : tensor<?xi8>
}

// 1 + 1, 0.5 + 0.5; twice 240 is more than f8E4M3FN has: NaN.
// BYTES: 3xi8=64 56 127
func.func @bytes(%x: tensor<?xf8E4M3FN>) -> tensor<?xf8E4M3FN> {
  %0 = arith.addf %x, %x : tensor<?xf8E4M3FN>
  return %0 : tensor<?xf8E4M3FN>
}

// PLACES: 3xindex=2 4 6
// WRONG: input 0 of function 'places' is tensor<3xi64>, expected tensor<?xindex>: the element types differ
func.func @places(%x: tensor<?xindex>) -> tensor<?xindex> {
  %0 = arith.addi %x, %x : tensor<?xindex>
  return %0 : tensor<?xindex>
}

// Scalars that branches, loops and calls hand on. The byte -14 holds 2 and -1.
// FIRST: 2xi8=34 2
// SECOND: 2xi8=-1 15
func.func @branches(%first: i1, %x: tensor<?xi4>) -> tensor<3xi4> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.extract %x[%c0] : tensor<?xi4>
  %b = tensor.extract %x[%c1] : tensor<?xi4>
  cf.cond_br %first, ^then(%a : i4), ^then(%b : i4)
^then(%v: i4):
  %e = tensor.empty() : tensor<3xi4>
  %f = linalg.fill ins(%v : i4) outs(%e : tensor<3xi4>) -> tensor<3xi4>
  return %f : tensor<3xi4>
}

// 1.5 and 3, which is 1.5 and 1.5.
// CALLS: 2xi8=60 60
// CALLS: 2xi8=68 68
func.func @calls(%n: index) -> (tensor<?xf8E4M3FN>, tensor<?xf8E4M3FN>) {
  %c = arith.constant 1.5 : f8E4M3FN
  %a, %twice = func.call @filled(%c, %n) : (f8E4M3FN, index) -> (tensor<?xf8E4M3FN>, f8E4M3FN)
  %b, %more = func.call @filled(%twice, %n) : (f8E4M3FN, index) -> (tensor<?xf8E4M3FN>, f8E4M3FN)
  return %a, %b : tensor<?xf8E4M3FN>, tensor<?xf8E4M3FN>
}
func.func private @filled(%v: f8E4M3FN, %n: index) -> (tensor<?xf8E4M3FN>, f8E4M3FN) {
  %e = tensor.empty(%n) : tensor<?xf8E4M3FN>
  %f = linalg.fill ins(%v : f8E4M3FN) outs(%e : tensor<?xf8E4M3FN>) -> tensor<?xf8E4M3FN>
  %twice = arith.addf %v, %v : f8E4M3FN
  return %f, %twice : tensor<?xf8E4M3FN>, f8E4M3FN
}

// (1 + 2i) to the fourth.
// SQUARES: 1x2xf32=[-7 -24]
func.func @squares(%n: index, %x: tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = tensor.extract %x[%c0] : tensor<1xcomplex<f32>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c) -> complex<f32> {
    %s = func.call @squared(%a) : (complex<f32>) -> complex<f32>
    scf.yield %s : complex<f32>
  }
  %e = tensor.empty() : tensor<1xcomplex<f32>>
  %f = linalg.fill ins(%r : complex<f32>) outs(%e : tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>>
  return %f : tensor<1xcomplex<f32>>
}
func.func private @squared(%a: complex<f32>) -> complex<f32> {
  %s = complex.mul %a, %a : complex<f32>
  return %s : complex<f32>
}

// 3, 6, .., 48 and then -32, as seven bits have it.
// UNTIL: i64=-32
func.func @until(%n: i64) -> i64 {
  %zero = arith.constant 0 : i7
  %start = arith.trunci %n : i64 to i7
  %r = scf.while (%a = %start) : (i7) -> i7 {
    %more = arith.cmpi sgt, %a, %zero : i7
    scf.condition(%more) %a : i7
  } do {
  ^bb0(%a: i7):
    %twice = arith.addi %a, %a : i7
    scf.yield %twice : i7
  }
  %wide = arith.extsi %r : i7 to i64
  return %wide : i64
}

// The largest three, and where they are.
// BEST: 1x3xindex=[9 8 7]
// BEST: 1x3xi32=[3 0 2]
func.func @best(%x: tensor<1x5xindex>) -> (tensor<1x3xindex>, tensor<1x3xi32>) {
  %none = arith.constant -1 : index
  %nowhere = arith.constant -1 : i32
  %e = tensor.empty() : tensor<1x3xindex>
  %p = tensor.empty() : tensor<1x3xi32>
  %a = linalg.fill ins(%none : index) outs(%e : tensor<1x3xindex>) -> tensor<1x3xindex>
  %b = linalg.fill ins(%nowhere : i32) outs(%p : tensor<1x3xi32>) -> tensor<1x3xi32>
  %r:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<1x5xindex>) outs(%a, %b : tensor<1x3xindex>, tensor<1x3xi32>) {
  ^bb0(%v: index, %w: index):
    %first = arith.cmpi sgt, %v, %w : index
    iree_linalg_ext.yield %first : i1
  } -> tensor<1x3xindex>, tensor<1x3xi32>
  return %r#0, %r#1 : tensor<1x3xindex>, tensor<1x3xi32>
}

// Complex numbers that a gather's region computes with, and not with what stood there.
// GATHERED: 2x2xf32=[6 8][2 4]
func.func @gathered(%x: tensor<2xcomplex<f32>>, %at: tensor<2xi32>) -> tensor<2xcomplex<f32>> {
  %e = tensor.empty() : tensor<2xcomplex<f32>>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%x, %at : tensor<2xcomplex<f32>>, tensor<2xi32>) outs(%e : tensor<2xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %old: complex<f32>):
    %twice = complex.add %v, %v : complex<f32>
    iree_linalg_ext.yield %twice : complex<f32>
  } -> tensor<2xcomplex<f32>>
  return %r : tensor<2xcomplex<f32>>
}
