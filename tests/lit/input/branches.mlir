// Inside of a body, scf.if and scf.index_switch are selects; what the side that is not taken must not do, it does not.
// Loops are written out, or stay where only the kernel knows how long they are.
// RUN: tenon-opt %s --tenon-lower-tensors | FileCheck %s
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: @divide(
// CHECK-NOT: scf.if
// CHECK: %[[SAFE:.*]] = arith.select %[[TAKEN:.*]], %{{.*}}, %{{.*}} : i32
// CHECK: %[[QUOTIENT:.*]] = arith.divsi %{{.*}}, %[[SAFE]] : i32
// CHECK: %[[INDEX:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: %[[READ:.*]] = tensor.extract %{{.*}}[%[[INDEX]]]
// CHECK: arith.select %[[TAKEN]], %[[QUOTIENT]], %[[READ]] : i32
// CHECK-NOT: scf.if
func.func @divide(%a: tensor<40xi32>, %b: tensor<40xi32>, %t: tensor<7xi32>, %k: index) -> tensor<40xi32> {
  %e = tensor.empty() : tensor<40xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<40xi32>, tensor<40xi32>) outs(%e : tensor<40xi32>) {
    ^bb0(%x: i32, %y: i32, %o: i32):
      %z = arith.constant 0 : i32
      %c = arith.cmpi ne, %y, %z : i32
      %1 = scf.if %c -> i32 {
        %2 = arith.divsi %x, %y : i32
        scf.yield %2 : i32
      } else {
        %v = tensor.extract %t[%k] : tensor<7xi32>
        scf.yield %v : i32
      }
      linalg.yield %1 : i32
  } -> tensor<40xi32>
  return %0 : tensor<40xi32>
}

// A condition of the host stays one.
// CHECK-LABEL: @host(
// CHECK: scf.if
func.func @host(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    %1 = arith.addf %a, %b : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A loop with known bounds is written out, in any body, and what is in it is a select then.
// CHECK-LABEL: @powers(
// CHECK: linalg.map
// CHECK-NOT: scf
// CHECK-COUNT-3: arith.mulf
// CHECK-NOT: scf
// CHECK: linalg.yield
func.func @powers(%a: tensor<40xf32>, %e: tensor<40xf32>) -> tensor<40xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = linalg.map ins(%a : tensor<40xf32>) outs(%e : tensor<40xf32>) (%x: f32, %o: f32) {
      %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x) -> f32 {
        %greater = arith.cmpf ogt, %p, %x : f32
        %2 = scf.if %greater -> f32 {
          %3 = arith.mulf %p, %x : f32
          scf.yield %3 : f32
        } else {
          scf.yield %p : f32
        }
        scf.yield %2 : f32
      }
      linalg.yield %1 : f32
  }
  return %0 : tensor<40xf32>
}

// A switch is conditions, one in the other, and a region of one block what it holds.
// CHECK-LABEL: func.func @chosen
// CHECK-NOT: scf.
// CHECK: arith.select
// CHECK: arith.select
// CHECK-NOT: scf.
func.func @chosen(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.map ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) (%a: f32, %o: f32) {
    %i = linalg.index 0 : index
    %c3 = arith.constant 3 : index
    %m = arith.remui %i, %c3 : index
    %r = scf.index_switch %m -> f32
    case 0 {
      %n = arith.negf %a : f32
      scf.yield %n : f32
    }
    case 2 {
      %s = scf.execute_region -> f32 {
        %p = arith.mulf %a, %a : f32
        scf.yield %p : f32
      }
      scf.yield %s : f32
    }
    default {
      scf.yield %a : f32
    }
    linalg.yield %r : f32
  }
  return %0 : tensor<8xf32>
}

// A loop that only the kernel can count stays one. What it uses of the body it carries: here %x. %s is everyone's.
// CHECK-LABEL: func.func @counted
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32)
// CHECK: linalg.map
// CHECK: (%[[X:.*]]: f32, %[[N:.*]]: i32, %{{.*}}: f32)
// CHECK: scf.while (%[[I:.*]] = %{{.*}}, %[[SUM:.*]] = %[[X]], %[[LAST:.*]] = %[[N]], %{{.*}} = %[[X]])
// CHECK: arith.cmpi slt, %[[I]], %[[LAST]]
// CHECK: scf.condition
// CHECK: ^bb0(%{{.*}}: i32, %[[OLD:.*]]: f32, %{{.*}}: i32, %[[EACH:.*]]: f32):
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[EACH]], %[[S]]
// CHECK: arith.addf %[[OLD]], %[[PRODUCT]]
// CHECK: scf.yield
func.func @counted(%a: tensor<8xf32>, %n: tensor<8xi32>, %s: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = linalg.map ins(%a, %n : tensor<8xf32>, tensor<8xi32>) outs(%e : tensor<8xf32>) (%x: f32, %last: i32, %o: f32) {
    %r = scf.for %i = %zero to %last step %one iter_args(%sum = %x) -> f32 : i32 {
      %p = arith.mulf %x, %s : f32
      %t = arith.addf %sum, %p : f32
      scf.yield %t : f32
    }
    linalg.yield %r : f32
  }
  return %0 : tensor<8xf32>
}

// On the side that is not taken, a loop ends before its first turn.
// CHECK-LABEL: func.func @guarded
// CHECK-NOT: scf.if
// CHECK: scf.while
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt
// CHECK: %[[ON:.*]] = arith.andi %[[LARGE]], %{{.*}} : i1
// CHECK: scf.condition(%[[ON]])
// CHECK: arith.select
func.func @guarded(%a: tensor<8xf32>, %n: tensor<8xi1>, %limit: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.map ins(%a, %n : tensor<8xf32>, tensor<8xi1>) outs(%e : tensor<8xf32>) (%x: f32, %wanted: i1, %o: f32) {
    %r = scf.if %wanted -> f32 {
      %halved = scf.while (%v = %x) : (f32) -> f32 {
        %large = arith.cmpf ogt, %v, %limit : f32
        scf.condition(%large) %v : f32
      } do {
      ^bb0(%v: f32):
        %half = arith.constant 5.000000e-01 : f32
        %w = arith.mulf %v, %half : f32
        scf.yield %w : f32
      }
      scf.yield %halved : f32
    } else {
      scf.yield %x : f32
    }
    linalg.yield %r : f32
  }
  return %0 : tensor<8xf32>
}

// As numbers without a sign 255 is behind 3, and it is never 3. A step that is not one may pass the largest number there
// is, so the last turn is known by what is left.
// CHECK-LABEL: func.func @unsigned
// CHECK-NOT: arith.addi
// CHECK: return
func.func @unsigned(%a: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %first = arith.constant -1 : i8
  %last = arith.constant 3 : i8
  %one = arith.constant 1 : i8
  %0 = linalg.map ins(%a : tensor<8xi32>) outs(%e : tensor<8xi32>) (%x: i32, %o: i32) {
    %r = scf.for unsigned %i = %first to %last step %one iter_args(%sum = %x) -> i32 : i8 {
      %t = arith.addi %sum, %x : i32
      scf.yield %t : i32
    }
    linalg.yield %r : i32
  }
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @strides
// CHECK: scf.while
// CHECK: arith.cmpi ule
// CHECK: arith.select
func.func @strides(%a: tensor<8xi8>, %s: i8) -> tensor<8xi8> {
  %e = tensor.empty() : tensor<8xi8>
  %zero = arith.constant 0 : i8
  %0 = linalg.map ins(%a : tensor<8xi8>) outs(%e : tensor<8xi8>) (%x: i8, %o: i8) {
    %r = scf.for %i = %zero to %x step %s iter_args(%sum = %zero) -> i8 : i8 {
      %t = arith.addi %sum, %i : i8
      scf.yield %t : i8
    }
    linalg.yield %r : i8
  }
  return %0 : tensor<8xi8>
}
