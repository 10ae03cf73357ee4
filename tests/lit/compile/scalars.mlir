// Integer arithmetic of the host in registers: every width as MLIR has it, constants folded.
// RUN: tenon-compile %s -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
//
// RUN: tenon-run %t.tenon --function=widths --input=2147483647 --input=1 --input=5 --input=-7 | FileCheck %s --check-prefix=WIDTHS
// WIDTHS: -2147483648
// WIDTHS: -2
// RUN: tenon-run %t.tenon --function=unsigned --input=-1 --input=2 | FileCheck %s --check-prefix=UNSIGNED
// UNSIGNED: 2147483647
// UNSIGNED: 0
// UNSIGNED: 2
// RUN: not tenon-run %t.tenon --function=unsigned_wide --input=-1 --input=4xf32 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: an operand of the unsigned operation 'arith.divui' is negative
// RUN: tenon-run %t.tenon --function=unsigned_numbers --input=-1 --input=10 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: 1844674407370955161
// NUMBERS-NEXT: 5
// NUMBERS-NEXT: f32=1.84467
// RUN: tenon-run %t.tenon --function=odd_widths --input=140737488355327 | FileCheck %s --check-prefix=ODD
// ODD: i64=1
// ODD-NEXT: i64=-2
// ODD-NEXT: i64=8589934079

module @scalars {
  // Integers of 33 to 63 bits wrap, also where 64 bits are not enough: (2^47 - 1)^2 modulo 2^48; twice 2^61 - 1 modulo 2^62, and a shift.
  func.func @odd_widths(%x: i64) -> (i64, i64, i64) {
    %long = arith.trunci %x : i64 to i48
    %square = arith.muli %long, %long : i48
    %0 = arith.extsi %square : i48 to i64
    %large = arith.constant 2305843009213693951 : i62
    %added = arith.trunci %x : i64 to i62
    %places = arith.constant 61 : i62
    %sign = arith.shrui %added, %places : i62
    %more = arith.ori %large, %sign : i62
    %sum = arith.addi %more, %more : i62
    %1 = arith.extsi %sum : i62 to i64
    %short = arith.trunci %x : i64 to i33
    %nine = arith.constant 9 : i33
    %shifted = arith.shli %short, %nine : i33
    %moved = arith.addi %shifted, %short : i33
    %2 = arith.extui %moved : i33 to i64
    return %0, %1, %2 : i64, i64, i64
  }

  // Arguments and results of every scalar type. i1 is held as 0 or 1, floats as their bits.
  // CHECK-LABEL: function 'types'(i1, i8, i16, i32, i64, index, f16, bf16, f32, f64)
  // CHECK-NEXT:  registers:
  // CHECK-NEXT:    r0 = input 0
  // CHECK-NEXT:    r1 = zext r0 from 1 bits
  // CHECK-NEXT:    r2 = input 1
  // CHECK:       results:
  // CHECK-NEXT:    i1 = r1
  // CHECK-NEXT:    i8 = r2
  // CHECK-NEXT:    i16 = r3
  // CHECK-NEXT:    i32 = r4
  // CHECK-NEXT:    i64 = r5
  // CHECK-NEXT:    index = r6
  // CHECK-NEXT:    f16 = r7
  // CHECK-NEXT:    bf16 = r8
  // CHECK-NEXT:    f32 = r9
  // CHECK-NEXT:    f64 = r10
  func.func @types(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: index, %g: f16, %h: bf16, %i: f32, %j: f64)
      -> (i1, i8, i16, i32, i64, index, f16, bf16, f32, f64) {
    return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j : i1, i8, i16, i32, i64, index, f16, bf16, f32, f64
  }

  // i32 and i64 wrap, index does not.
  // CHECK-LABEL: function 'widths'
  // CHECK:         r[[SUM:[0-9]+]] = add r0, r1
  // CHECK-NEXT:    r[[WRAPPED:[0-9]+]] = sext r[[SUM]] from 32 bits
  // CHECK:         r[[WIDE:[0-9]+]] = addwrap r{{[0-9]+}}, r{{[0-9]+}}
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    i32 = r[[WRAPPED]]
  // CHECK-NEXT:    i64 = r[[WIDE]]
  func.func @widths(%a: i32, %b: i32, %c: i64, %d: i64) -> (i32, i64) {
    %0 = arith.addi %a, %b : i32
    %1 = arith.addi %c, %d : i64
    return %0, %1 : i32, i64
  }

  // Unsigned operations of 32 bits are exact.
  // CHECK-LABEL: function 'unsigned'
  // CHECK:         r[[A:[0-9]+]] = zext r0 from 32 bits
  // CHECK-NEXT:    r[[B:[0-9]+]] = zext r1 from 32 bits
  // CHECK-NEXT:    r[[Q:[0-9]+]] = divtrunc r[[A]], r[[B]]
  // CHECK-NEXT:    r[[R:[0-9]+]] = sext r[[Q]] from 32 bits
  // CHECK-NEXT:    r[[LESS:[0-9]+]] = lt r[[A]], r[[B]]
  // CHECK-NEXT:    r[[MIN:[0-9]+]] = select r[[LESS]], r0, r1
  // CHECK-NOT:   checks:
  // CHECK:       results:
  // CHECK-NEXT:    i32 = r[[R]]
  // CHECK-NEXT:    i1 = r[[LESS]]
  // CHECK-NEXT:    i32 = r[[MIN]]
  func.func @unsigned(%a: i32, %b: i32) -> (i32, i1, i32) {
    %0 = arith.divui %a, %b : i32
    %1 = arith.cmpi ult, %a, %b : i32
    %2 = arith.minui %a, %b : i32
    return %0, %1, %2 : i32, i1, i32
  }

  // Numbers of 64 bits are divided whatever their top bit is.
  // CHECK-LABEL: function 'unsigned_numbers'
  // CHECK-NOT:   checks:
  // CHECK:       results:
  func.func @unsigned_numbers(%a: i64, %b: i64) -> (i64, i64, f32) {
    %0 = arith.divui %a, %b : i64
    %1 = arith.remui %a, %b : i64
    %2 = arith.uitofp %a : i64 to f32
    return %0, %1, %2 : i64, i64, f32
  }

  // An unsigned division of sizes is checked; a dimension is known not to be negative.
  // CHECK-LABEL: function 'unsigned_wide'
  // CHECK:       checks:
  // CHECK-NEXT:    r{{[0-9]+}} else 'an operand of the unsigned operation 'arith.divui' is negative'
  // CHECK-NEXT:  results:
  func.func @unsigned_wide(%a: index, %t: tensor<?xf32>) -> (index, index) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %0 = arith.divui %a, %c3 : index
    %d = tensor.dim %t, %c0 : tensor<?xf32>
    %1 = arith.remui %d, %c3 : index
    return %0, %1 : index, index
  }

  // An i64 split into two words, as kernels with 32-bit constants take it.
  // CHECK-LABEL: function 'split'
  // CHECK:         r[[LOW:[0-9]+]] = sext r0 from 32 bits
  // CHECK:         r[[HIGH:[0-9]+]] = floordiv r0
  // CHECK-NEXT:    r[[TOP:[0-9]+]] = sext r[[HIGH]] from 32 bits
  // CHECK:       results:
  // CHECK-NEXT:    i32 = r[[LOW]]
  // CHECK-NEXT:    i32 = r[[TOP]]
  func.func @split(%a: i64) -> (i32, i32) {
    %c32 = arith.constant 32 : i64
    %low = arith.trunci %a : i64 to i32
    %shifted = arith.shrui %a, %c32 : i64
    %high = arith.trunci %shifted : i64 to i32
    return %low, %high : i32, i32
  }

  // CHECK-LABEL: function 'conversions'
  // CHECK:         r[[I:[0-9]+]] = sext r0 from 32 bits
  // CHECK:       results:
  // CHECK-NEXT:    i32 = r[[I]]
  // CHECK-NEXT:    index = r1
  // CHECK-NEXT:    f32 = r{{[0-9]+}}
  // CHECK-NEXT:    i64 = r{{[0-9]+}}
  func.func @conversions(%a: index, %b: i32, %c: i1) -> (i32, index, f32, i64) {
    %0 = arith.index_cast %a : index to i32
    %1 = arith.index_cast %b : i32 to index
    %2 = arith.bitcast %b : i32 to f32
    %3 = arith.extsi %c : i1 to i64
    return %0, %1, %2, %3 : i32, index, f32, i64
  }

  // CHECK-LABEL: function 'affine'
  // CHECK:         r[[CEIL:[0-9]+]] = ceildiv r0
  // CHECK:         = floordiv r1
  // CHECK:         = mod r0
  // CHECK:         = min
  func.func @affine(%a: index, %b: index) -> (index, index) {
    %0 = affine.apply affine_map<(d0)[s0] -> ((d0 ceildiv 64) * 2 + s0 floordiv 3)>(%a)[%b]
    %1 = affine.min affine_map<(d0) -> (d0 mod 8, 5)>(%a)
    return %0, %1 : index, index
  }

  // Everything known is folded.
  // CHECK-LABEL: function 'folded'
  // CHECK-NEXT:  registers:
  // CHECK-NEXT:    r0 = const 1065353216
  // CHECK-NEXT:    r1 = const 7
  // CHECK-NEXT:  results:
  func.func @folded(%t: tensor<5x2xf32>) -> (index, f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %0 = tensor.dim %t, %c0 : tensor<5x2xf32>
    %1 = tensor.dim %t, %c1 : tensor<5x2xf32>
    %2 = arith.addi %0, %1 : index
    return %2, %one : index, f32
  }
}
