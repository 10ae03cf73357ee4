// A reduction over no element is what it starts from, also where its body forgets the start: `false and x` is false, but
// only where there is an element. And a view that nobody reads is nothing.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s

#all = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>

// The start is what is returned: no kernel reduces anything.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: arith.andi
// CHECK-LABEL: hal.executable.source private @nothing_dispatch_0
// CHECK: %true = arith.constant true
// CHECK: linalg.yield %in
func.func @nothing() -> tensor<i1> {
  %false = arith.constant false
  %true = arith.constant true
  %e = tensor.empty() : tensor<0xi1>
  %x = linalg.fill ins(%false : i1) outs(%e : tensor<0xi1>) -> tensor<0xi1>
  %s = tensor.empty() : tensor<i1>
  %start = linalg.fill ins(%true : i1) outs(%s : tensor<i1>) -> tensor<i1>
  %r = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]} ins(%x : tensor<0xi1>) outs(%start : tensor<i1>) {
    ^bb0(%a: i1, %b: i1):
      %c = arith.andi %a, %b : i1
      linalg.yield %c : i1
  } -> tensor<i1>
  return %r : tensor<i1>
}

// Of a size that is known only when it runs: the start stays.
// CHECK-LABEL: hal.executable.source private @perhaps_dispatch_0
// CHECK: %[[true:.*]] = arith.constant true
// CHECK: %[[start:.*]] = linalg.fill ins(%[[true]]
// CHECK: linalg.generic {{.*}} outs(%[[start]]
// CHECK: arith.select
func.func @perhaps(%x: tensor<?xi1>) -> tensor<i1> {
  %true = arith.constant true
  %s = tensor.empty() : tensor<i1>
  %start = linalg.fill ins(%true : i1) outs(%s : tensor<i1>) -> tensor<i1>
  %r = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]} ins(%x : tensor<?xi1>) outs(%start : tensor<i1>) {
    ^bb0(%a: i1, %b: i1):
      %n = arith.xori %a, %a : i1
      %c = arith.andi %n, %b : i1
      linalg.yield %c : i1
  } -> tensor<i1>
  return %r : tensor<i1>
}

// CHECK-LABEL: func.func @unread
func.func @unread(%x: tensor<4xi16>) -> tensor<2xi1> {
  %slice = tensor.extract_slice %x [2] [2] [1] : tensor<4xi16> to tensor<2xi16>
  %e = tensor.empty() : tensor<2xi1>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]} ins(%slice : tensor<2xi16>) outs(%e : tensor<2xi1>) {
    ^bb0(%a: i16, %o: i1):
      %c = arith.cmpi sge, %a, %a : i16
      linalg.yield %c : i1
  } -> tensor<2xi1>
  %q = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel"]} outs(%p : tensor<2xi1>) {
    ^bb0(%o: i1):
      %c = arith.xori %o, %o : i1
      linalg.yield %c : i1
  } -> tensor<2xi1>
  return %q : tensor<2xi1>
}
