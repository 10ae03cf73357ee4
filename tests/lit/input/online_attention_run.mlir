// Attention to some of the keys at a time, from nothing and from what other keys have come to, beside attention to all of
// them; scores changed by where they are.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon | FileCheck %s --check-prefix=RAN
// RUN: tenon-compile %s --target=sm_90a --images=ptx -o %t90.tenon
// RUN: tenon-dump %t90.tenon | FileCheck %s
// RUN: tenon-check %t90.tenon | FileCheck %s --check-prefix=RAN
// RAN: 7 functions: 11 expectations hold, 0 failed, 1 skipped

#q = affine_map<(b, m, d, k, n) -> (b, m, d)>
#k = affine_map<(b, m, d, k, n) -> (b, k, d)>
#v = affine_map<(b, m, d, k, n) -> (b, k, n)>
#none = affine_map<(b, m, d, k, n) -> ()>
#mask = affine_map<(b, m, d, k, n) -> (b, m, k)>
#o = affine_map<(b, m, d, k, n) -> (b, m, n)>
#r = affine_map<(b, m, d, k, n) -> (b, m)>
#rt = affine_map<(b, m, d, k, n) -> (m, b)>
#three = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#rowst = affine_map<(b, m, n) -> (m, b)>

func.func private @drawn(%b: index, %m: index, %d: index, %seed: index) -> tensor<?x?x?xf32> {
  %empty = tensor.empty(%b, %m, %d) : tensor<?x?x?xf32>
  %c7 = arith.constant 7 : index
  %c13 = arith.constant 13 : index
  %c29 = arith.constant 29 : index
  %middle = arith.constant 14.0 : f32
  %step = arith.constant 0.11 : f32
  %0 = linalg.generic {indexing_maps = [#three], iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<?x?x?xf32>) {
  ^bb0(%x: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %l = linalg.index 2 : index
    %1 = arith.muli %i, %c7 : index
    %2 = arith.muli %j, %c13 : index
    %3 = arith.muli %l, %seed : index
    %4 = arith.addi %1, %2 : index
    %5 = arith.addi %4, %3 : index
    %6 = arith.remui %5, %c29 : index
    %7 = arith.index_cast %6 : index to i32
    %8 = arith.sitofp %7 : i32 to f32
    %9 = arith.subf %8, %middle : f32
    %10 = arith.mulf %9, %step : f32
    linalg.yield %10 : f32
  } -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

func.func private @inputs() -> (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %q = call @drawn(%c2, %c5, %c8, %c3) : (index, index, index, index) -> tensor<?x?x?xf32>
  %k = call @drawn(%c2, %c12, %c8, %c5) : (index, index, index, index) -> tensor<?x?x?xf32>
  %v = call @drawn(%c2, %c12, %c6, %c6) : (index, index, index, index) -> tensor<?x?x?xf32>
  %m = call @drawn(%c2, %c5, %c12, %c8) : (index, index, index, index) -> tensor<?x?x?xf32>
  %qs = tensor.cast %q : tensor<?x?x?xf32> to tensor<2x5x8xf32>
  %ks = tensor.cast %k : tensor<?x?x?xf32> to tensor<2x12x8xf32>
  %vs = tensor.cast %v : tensor<?x?x?xf32> to tensor<2x12x6xf32>
  %ms = tensor.cast %m : tensor<?x?x?xf32> to tensor<2x5x12xf32>
  %0:4 = util.optimization_barrier %qs, %ks, %vs, %ms : tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>
  return %0#0, %0#1, %0#2, %0#3 : tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>
}

func.func private @divided(%sums: tensor<2x5x6xf32>, %sum: tensor<2x5xf32>) -> tensor<2x5x6xf32> {
  %e = tensor.empty() : tensor<2x5x6xf32>
  %0 = linalg.generic {indexing_maps = [#three, #rows, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sums, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%e : tensor<2x5x6xf32>) {
  ^bb0(%a: f32, %s: f32, %x: f32):
    %1 = arith.divf %a, %s : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x6xf32>
  return %0 : tensor<2x5x6xf32>
}

func.func private @started() -> (tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x6xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %max = linalg.fill ins(%least : f32) outs(%er : tensor<2x5xf32>) -> tensor<2x5xf32>
  %sum = linalg.fill ins(%zero : f32) outs(%er : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %acc, %max, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>
}

func.func private @whole(%q: tensor<2x5x8xf32>, %k: tensor<2x12x8xf32>, %v: tensor<2x12x6xf32>, %m: tensor<2x5x12xf32>) -> tensor<2x5x6xf32> {
  %scale = arith.constant 0.3 : f32
  %e = tensor.empty() : tensor<2x5x6xf32>
  %0 = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #mask, #o]}
      ins(%q, %k, %v, %scale, %m : tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, f32, tensor<2x5x12xf32>)
      outs(%e : tensor<2x5x6xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x5x6xf32>
  return %0 : tensor<2x5x6xf32>
}

// All keys at once: what it begins with counts for nothing, and no score is stored.
func.func @at_once() {
  %q, %k, %v, %m = call @inputs() : () -> (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>)
  %want = call @whole(%q, %k, %v, %m) : (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>) -> tensor<2x5x6xf32>
  %acc, %max, %sum = call @started() : () -> (tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>)
  %scale = arith.constant 0.3 : f32
  %0:3 = iree_linalg_ext.online_attention <indexing_maps = [#q, #k, #v, #none, #mask, #o, #r, #r]>
      ins(%q, %k, %v, %scale, %m : tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, f32, tensor<2x5x12xf32>)
      outs(%acc, %max, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>
  %got = call @divided(%0#0, %0#2) : (tensor<2x5x6xf32>, tensor<2x5xf32>) -> tensor<2x5x6xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-05) : tensor<2x5x6xf32>
  return
}

// 7 keys, then 5, whose largest scores are sometimes larger, sometimes not.
func.func @in_turn() {
  %q, %k, %v, %m = call @inputs() : () -> (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>)
  %want = call @whole(%q, %k, %v, %m) : (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>) -> tensor<2x5x6xf32>
  %acc, %max, %sum = call @started() : () -> (tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>)
  %scale = arith.constant 0.3 : f32
  %k0 = tensor.extract_slice %k[0, 0, 0] [2, 7, 8] [1, 1, 1] : tensor<2x12x8xf32> to tensor<2x7x8xf32>
  %k1 = tensor.extract_slice %k[0, 7, 0] [2, 5, 8] [1, 1, 1] : tensor<2x12x8xf32> to tensor<2x5x8xf32>
  %v0 = tensor.extract_slice %v[0, 0, 0] [2, 7, 6] [1, 1, 1] : tensor<2x12x6xf32> to tensor<2x7x6xf32>
  %v1 = tensor.extract_slice %v[0, 7, 0] [2, 5, 6] [1, 1, 1] : tensor<2x12x6xf32> to tensor<2x5x6xf32>
  %m0 = tensor.extract_slice %m[0, 0, 0] [2, 5, 7] [1, 1, 1] : tensor<2x5x12xf32> to tensor<2x5x7xf32>
  %m1 = tensor.extract_slice %m[0, 0, 7] [2, 5, 5] [1, 1, 1] : tensor<2x5x12xf32> to tensor<2x5x5xf32>
  %0:3 = iree_linalg_ext.online_attention {indexing_maps = [#q, #k, #v, #none, #mask, #o, #r, #r]}
      ins(%q, %k0, %v0, %scale, %m0 : tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x6xf32>, f32, tensor<2x5x7xf32>)
      outs(%acc, %max, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>
  %1:3 = iree_linalg_ext.online_attention {indexing_maps = [#q, #k, #v, #none, #mask, #o, #r, #r]}
      ins(%q, %k1, %v1, %scale, %m1 : tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x6xf32>, f32, tensor<2x5x5xf32>)
      outs(%0#0, %0#1, %0#2 : tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>
  %got = call @divided(%1#0, %1#2) : (tensor<2x5x6xf32>, tensor<2x5xf32>) -> tensor<2x5x6xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-05) : tensor<2x5x6xf32>
  return
}

// One query, keys (1, 2) and depth 1: scores 2 and 4, largest 4, sums of weights 1 + exp(-2); of base 2, 4 / log(2).
func.func @largest_scores() {
  %q = util.unfoldable_constant dense<2.0> : tensor<1x1x1xf32>
  %k = util.unfoldable_constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %v = util.unfoldable_constant dense<[[[3.0], [5.0]]]> : tensor<1x2x1xf32>
  %scale = arith.constant 1.0 : f32
  %acc = arith.constant dense<0.0> : tensor<1x1x1xf32>
  %max = arith.constant dense<-3.40282347E+38> : tensor<1x1xf32>
  %sum = arith.constant dense<0.0> : tensor<1x1xf32>
  %0:3 = iree_linalg_ext.online_attention {indexing_maps = [#q, #k, #v, #none, #o, #r, #r]}
      ins(%q, %k, %v, %scale : tensor<1x1x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>, f32)
      outs(%acc, %max, %sum : tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
  check.expect_almost_eq_const(%0#0, dense<5.4060058> : tensor<1x1x1xf32>, atol 1.0e-05) : tensor<1x1x1xf32>
  check.expect_almost_eq_const(%0#1, dense<5.7707801> : tensor<1x1xf32>, atol 1.0e-05) : tensor<1x1xf32>
  check.expect_almost_eq_const(%0#2, dense<1.1353353> : tensor<1x1xf32>, atol 1.0e-05) : tensor<1x1xf32>
  %1:3 = iree_linalg_ext.online_attention {decomposition_config = {use_exp2 = false}, indexing_maps = [#q, #k, #v, #none, #o, #r, #r]}
      ins(%q, %k, %v, %scale : tensor<1x1x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>, f32)
      outs(%acc, %max, %sum : tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
  check.expect_almost_eq_const(%1#1, dense<4.0> : tensor<1x1xf32>, atol 1.0e-05) : tensor<1x1xf32>
  return
}

// Weights are of the largest score as it is handed on, in bf16: 336, not 336.6.
func.func @narrow_largest_scores() {
  %q = util.unfoldable_constant dense<336.6> : tensor<1x1x1xf32>
  %k = util.unfoldable_constant dense<1.0> : tensor<1x1x1xf32>
  %v = util.unfoldable_constant dense<1.0> : tensor<1x1x1xf32>
  %minus = util.unfoldable_constant dense<-1.0> : tensor<1x1x1xf32>
  %scale = arith.constant 1.0 : f32
  %acc = arith.constant dense<0.0> : tensor<1x1x1xf32>
  %max = arith.constant dense<0xFF80> : tensor<1x1xbf16>
  %sum = arith.constant dense<0.0> : tensor<1x1xf32>
  %0:3 = iree_linalg_ext.online_attention {decomposition_config = {use_exp2 = false}, indexing_maps = [#q, #k, #v, #none, #o, #r, #r]}
      ins(%q, %k, %v, %scale : tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, f32)
      outs(%acc, %max, %sum : tensor<1x1x1xf32>, tensor<1x1xbf16>, tensor<1x1xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<1x1x1xf32>, tensor<1x1xbf16>, tensor<1x1xf32>
  %1:3 = iree_linalg_ext.online_attention {decomposition_config = {use_exp2 = false}, indexing_maps = [#q, #k, #v, #none, #o, #r, #r]}
      ins(%q, %k, %minus, %scale : tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, f32)
      outs(%0#0, %0#1, %0#2 : tensor<1x1x1xf32>, tensor<1x1xbf16>, tensor<1x1xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<1x1x1xf32>, tensor<1x1xbf16>, tensor<1x1xf32>
  check.expect_almost_eq_const(%0#2, dense<1.8221> : tensor<1x1xf32>, atol 1.0e-03) : tensor<1x1xf32>
  check.expect_almost_eq_const(%1#0, dense<0.0> : tensor<1x1x1xf32>, atol 1.0e-05) : tensor<1x1x1xf32>
  return
}

// The first keys are hidden from all queries, then none is: nothing is NaN. Rows are turned, and of f16.
func.func @hidden_first() {
  %q = util.unfoldable_constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf16>
  %k = util.unfoldable_constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf16>
  %v = util.unfoldable_constant dense<[[[3.0], [3.0]]]> : tensor<1x2x1xf16>
  %hidden = util.unfoldable_constant dense<false> : tensor<1x2x2xi1>
  %scale = arith.constant 1.0 : f16
  %acc = util.unfoldable_constant dense<0.0> : tensor<1x2x1xf32>
  %max = util.unfoldable_constant dense<0xFF800000> : tensor<2x1xf32>
  %sum = util.unfoldable_constant dense<0.0> : tensor<2x1xf32>
  %0:3 = iree_linalg_ext.online_attention {indexing_maps = [#q, #k, #v, #none, #mask, #o, #rt, #rt]}
      ins(%q, %k, %v, %scale, %hidden : tensor<1x2x1xf16>, tensor<1x2x1xf16>, tensor<1x2x1xf16>, f16, tensor<1x2x2xi1>)
      outs(%acc, %max, %sum : tensor<1x2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<1x2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  %1:3 = iree_linalg_ext.online_attention {indexing_maps = [#q, #k, #v, #none, #o, #rt, #rt]}
      ins(%q, %k, %v, %scale : tensor<1x2x1xf16>, tensor<1x2x1xf16>, tensor<1x2x1xf16>, f16)
      outs(%0#0, %0#1, %0#2 : tensor<1x2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<1x2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  %e = tensor.empty() : tensor<1x2x1xf32>
  %2 = linalg.generic {indexing_maps = [#three, #rowst, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1#0, %1#2 : tensor<1x2x1xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x1xf32>) {
  ^bb0(%a: f32, %s: f32, %x: f32):
    %3 = arith.divf %a, %s : f32
    linalg.yield %3 : f32
  } -> tensor<1x2x1xf32>
  check.expect_almost_eq_const(%2, dense<3.0> : tensor<1x2x1xf32>, atol 1.0e-03) : tensor<1x2x1xf32>
  return
}

// Sizes that only the call knows.
func.func @unknown_sizes() {
  %q, %k, %v, %m = call @inputs() : () -> (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>)
  %want = call @whole(%q, %k, %v, %m) : (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>) -> tensor<2x5x6xf32>
  %acc, %max, %sum = call @started() : () -> (tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>)
  %scale = arith.constant 0.3 : f32
  %qd = tensor.cast %q : tensor<2x5x8xf32> to tensor<2x?x8xf32>
  %kd = tensor.cast %k : tensor<2x12x8xf32> to tensor<2x?x8xf32>
  %vd = tensor.cast %v : tensor<2x12x6xf32> to tensor<2x?x6xf32>
  %md = tensor.cast %m : tensor<2x5x12xf32> to tensor<2x?x?xf32>
  %ad = tensor.cast %acc : tensor<2x5x6xf32> to tensor<2x?x6xf32>
  %xd = tensor.cast %max : tensor<2x5xf32> to tensor<2x?xf32>
  %sd = tensor.cast %sum : tensor<2x5xf32> to tensor<2x?xf32>
  %u:7 = util.optimization_barrier %qd, %kd, %vd, %md, %ad, %xd, %sd : tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x6xf32>, tensor<2x?x?xf32>, tensor<2x?x6xf32>, tensor<2x?xf32>, tensor<2x?xf32>
  %0:3 = iree_linalg_ext.online_attention {indexing_maps = [#q, #k, #v, #none, #mask, #o, #r, #r]}
      ins(%u#0, %u#1, %u#2, %scale, %u#3 : tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x6xf32>, f32, tensor<2x?x?xf32>)
      outs(%u#4, %u#5, %u#6 : tensor<2x?x6xf32>, tensor<2x?xf32>, tensor<2x?xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x?x6xf32>, tensor<2x?xf32>, tensor<2x?xf32>
  %sums = tensor.cast %0#0 : tensor<2x?x6xf32> to tensor<2x5x6xf32>
  %all = tensor.cast %0#2 : tensor<2x?xf32> to tensor<2x5xf32>
  %got = call @divided(%sums, %all) : (tensor<2x5x6xf32>, tensor<2x5xf32>) -> tensor<2x5x6xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-05) : tensor<2x5x6xf32>
  return
}

// A region that knows which query and key a score is of, beside a mask that says the same.
func.func @by_places() {
  %q, %k, %v, %m = call @inputs() : () -> (tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, tensor<2x5x12xf32>)
  %e = tensor.empty() : tensor<2x5x6xf32>
  %em = tensor.empty() : tensor<2x5x12xi1>
  %scale = arith.constant 0.3 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %seen = linalg.generic {indexing_maps = [#three], iterator_types = ["parallel", "parallel", "parallel"]} outs(%em : tensor<2x5x12xi1>) {
  ^bb0(%x: i1):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %1 = arith.cmpi ule, %j, %i : index
    linalg.yield %1 : i1
  } -> tensor<2x5x12xi1>
  %want = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #mask, #o]}
      ins(%q, %k, %v, %scale, %seen : tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, f32, tensor<2x5x12xi1>)
      outs(%e : tensor<2x5x6xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x5x6xf32>
  %got = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #o]}
      ins(%q, %k, %v, %scale : tensor<2x5x8xf32>, tensor<2x12x8xf32>, tensor<2x12x6xf32>, f32) outs(%e : tensor<2x5x6xf32>) {
  ^bb0(%s: f32):
    %i = iree_linalg_ext.index 1 : index
    %j = iree_linalg_ext.index 3 : index
    %1 = arith.cmpi ule, %j, %i : index
    %2 = arith.select %1, %s, %hidden : f32
    iree_linalg_ext.yield %2 : f32
  } -> tensor<2x5x6xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-05) : tensor<2x5x6xf32>
  return
}

// What a front end writes for attention to all keys is one group, which divides as well: a kernel that has parts of the
// keys of its few tiles, and one that adds them up.
// CHECK-NOT: sdpa_dispatch_1
// CHECK: executable 'sdpa_dispatch_0': 2 exports
// CHECK-NOT: sdpa_dispatch_1
func.func @sdpa(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x512x64xf32>
  %eh = tensor.empty() : tensor<8x512x64xf16>
  %er = tensor.empty() : tensor<8x512xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%e : tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  %max = linalg.fill ins(%least : f32) outs(%er : tensor<8x512xf32>) -> tensor<8x512xf32>
  %sum = linalg.fill ins(%zero : f32) outs(%er : tensor<8x512xf32>) -> tensor<8x512xf32>
  %scale = arith.constant 0.125 : f32
  %0:3 = iree_linalg_ext.online_attention <indexing_maps = [#q, #k, #v, #none, #o, #r, #r]>
      ins(%q, %k, %v, %scale : tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>, f32)
      outs(%acc, %max, %sum : tensor<8x512x64xf32>, tensor<8x512xf32>, tensor<8x512xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<8x512x64xf32>, tensor<8x512xf32>, tensor<8x512xf32>
  %1 = linalg.generic {indexing_maps = [#three, #rows, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0#0, %0#2 : tensor<8x512x64xf32>, tensor<8x512xf32>) outs(%eh : tensor<8x512x64xf16>) {
  ^bb0(%a: f32, %s: f32, %x: f16):
    %2 = arith.divf %a, %s : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<8x512x64xf16>
  return %1 : tensor<8x512x64xf16>
}
