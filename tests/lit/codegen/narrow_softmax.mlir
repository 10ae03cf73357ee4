// Softmax of which only bf16 or f16 leaves the kernel: one instruction for the exponential, one division for each row. What
// else is made of it keeps it exact.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --images=ptx --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --check-prefix=NARROW --input-file=%t/narrow_dispatch_0_sm_80.ptx
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=BODY

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// NARROW-LABEL: .visible .entry narrow_dispatch_0(
// NARROW: rcp.rn.f32
// NARROW-NOT: div.rn.f32
// BODY-LABEL: hal.executable.source private @narrow_dispatch_0
// BODY: math.exp %{{.+}} fastmath<afn> : f32
// BODY: math.exp %{{.+}} fastmath<afn> : f32
// BODY: %[[INVERSE:.+]] = arith.divf %{{.+}}, %{{.+}} : f32
// BODY: arith.mulf %{{.+}}, %[[INVERSE]] : f32
func.func @narrow(%x: tensor<64x1024xbf16>) -> tensor<64x1024xbf16> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %low = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xbf16>) outs(%low : tensor<64xf32>) {
    ^bb0(%a: bf16, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %r = arith.maximumf %w, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<64x1024xbf16>, tensor<64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%a: bf16, %m: f32, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = tensor.empty() : tensor<64x1024xbf16>
  %out = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max, %sum : tensor<64x1024xbf16>, tensor<64xf32>, tensor<64xf32>) outs(%y : tensor<64x1024xbf16>) {
    ^bb0(%a: bf16, %m: f32, %s: f32, %o: bf16):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %q = arith.divf %p, %s : f32
      %r = arith.truncf %q : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<64x1024xbf16>
  return %out : tensor<64x1024xbf16>
}

// BODY-LABEL: hal.executable.source private @logarithm_dispatch_0
// BODY: math.exp %{{.+}} fastmath<afn> : f32
func.func @logarithm(%x: tensor<64x1024xf16>) -> tensor<64x1024xf16> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %low = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xf16>) outs(%low : tensor<64xf32>) {
    ^bb0(%a: f16, %b: f32):
      %w = arith.extf %a : f16 to f32
      %r = arith.maximumf %w, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<64x1024xf16>, tensor<64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%a: f16, %m: f32, %b: f32):
      %w = arith.extf %a : f16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = tensor.empty() : tensor<64x1024xf16>
  %out = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max, %sum : tensor<64x1024xf16>, tensor<64xf32>, tensor<64xf32>) outs(%y : tensor<64x1024xf16>) {
    ^bb0(%a: f16, %m: f32, %s: f32, %o: f16):
      %w = arith.extf %a : f16 to f32
      %d = arith.subf %w, %m : f32
      %l = math.log %s : f32
      %q = arith.subf %d, %l : f32
      %r = arith.truncf %q : f32 to f16
      linalg.yield %r : f16
  } -> tensor<64x1024xf16>
  return %out : tensor<64x1024xf16>
}

// The result is f32.
// BODY-LABEL: hal.executable.source private @wide_dispatch_0
// BODY-NOT: fastmath
func.func @wide(%x: tensor<64x1024xbf16>) -> tensor<64x1024xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %low = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xbf16>) outs(%low : tensor<64xf32>) {
    ^bb0(%a: bf16, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %r = arith.maximumf %w, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<64x1024xbf16>, tensor<64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%a: bf16, %m: f32, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = tensor.empty() : tensor<64x1024xf32>
  %out = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max, %sum : tensor<64x1024xbf16>, tensor<64xf32>, tensor<64xf32>) outs(%y : tensor<64x1024xf32>) {
    ^bb0(%a: bf16, %m: f32, %s: f32, %o: f32):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %q = arith.divf %p, %s : f32
      linalg.yield %q : f32
  } -> tensor<64x1024xf32>
  return %out : tensor<64x1024xf32>
}

// A difference of the quotient and something near it would show any error.
// BODY-LABEL: hal.executable.source private @difference_dispatch_0
// BODY-NOT: fastmath
func.func @difference(%x: tensor<64x1024xbf16>) -> tensor<64x1024xbf16> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %mean = arith.constant 9.765625e-4 : f32
  %e = tensor.empty() : tensor<64xf32>
  %low = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xbf16>) outs(%low : tensor<64xf32>) {
    ^bb0(%a: bf16, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %r = arith.maximumf %w, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<64x1024xbf16>, tensor<64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%a: bf16, %m: f32, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = tensor.empty() : tensor<64x1024xbf16>
  %out = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max, %sum : tensor<64x1024xbf16>, tensor<64xf32>, tensor<64xf32>) outs(%y : tensor<64x1024xbf16>) {
    ^bb0(%a: bf16, %m: f32, %s: f32, %o: bf16):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %q = arith.divf %p, %s : f32
      %c = arith.subf %q, %mean : f32
      %r = arith.truncf %c : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<64x1024xbf16>
  return %out : tensor<64x1024xbf16>
}

// The sum is a result, too.
// BODY-LABEL: hal.executable.source private @also_sum_dispatch_0
// BODY-NOT: fastmath
func.func @also_sum(%x: tensor<64x1024xbf16>) -> (tensor<64x1024xbf16>, tensor<64xf32>) {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %low = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xbf16>) outs(%low : tensor<64xf32>) {
    ^bb0(%a: bf16, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %r = arith.maximumf %w, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<64x1024xbf16>, tensor<64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%a: bf16, %m: f32, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = tensor.empty() : tensor<64x1024xbf16>
  %out = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max, %sum : tensor<64x1024xbf16>, tensor<64xf32>, tensor<64xf32>) outs(%y : tensor<64x1024xbf16>) {
    ^bb0(%a: bf16, %m: f32, %s: f32, %o: bf16):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %q = arith.divf %p, %s : f32
      %r = arith.truncf %q : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<64x1024xbf16>
  return %out, %sum : tensor<64x1024xbf16>, tensor<64xf32>
}

// No element need be as large as the maximum that starts from a number: sums may be as small as they like.
// BODY-LABEL: hal.executable.source private @finite_start_dispatch_0
// BODY-NOT: fastmath
func.func @finite_start(%x: tensor<64x1024xbf16>) -> tensor<64x1024xbf16> {
  %large = arith.constant 100.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %low = linalg.fill ins(%large : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xbf16>) outs(%low : tensor<64xf32>) {
    ^bb0(%a: bf16, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %r = arith.maximumf %w, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<64x1024xbf16>, tensor<64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%a: bf16, %m: f32, %b: f32):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = tensor.empty() : tensor<64x1024xbf16>
  %out = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max, %sum : tensor<64x1024xbf16>, tensor<64xf32>, tensor<64xf32>) outs(%y : tensor<64x1024xbf16>) {
    ^bb0(%a: bf16, %m: f32, %s: f32, %o: bf16):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %m : f32
      %p = math.exp %d : f32
      %q = arith.divf %p, %s : f32
      %r = arith.truncf %q : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<64x1024xbf16>
  return %out : tensor<64x1024xbf16>
}
