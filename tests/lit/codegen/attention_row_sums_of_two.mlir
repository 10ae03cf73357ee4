// What attention_row_sums.mlir says holds beside another attention of which kernels come: sums of the first are those of its weights of
// f32 still, and kernels of the second's gradients keep no weights.
// RUN: tenon-compile %s --target=sm_90a --images=ptx --print-dispatches -o %t.tenon 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --function=step \
// RUN:   --input="1x2x2xbf16=1 0 1 0" --input="1x3x2xbf16=0 0 0.6953125 0 0.6953125 0" --input="1x3x2xbf16=256 0 0 0 0 0" \
// RUN:   --input="1x2x2xbf16=1 0 1 0" --input=32x256x64xbf16=0.5 --input=32x256x64xbf16=0.5 --input=32x256x64xbf16=0.5 \
// RUN:   --input=32x256x64xbf16=0.5 | FileCheck %s

// Four of the first, and the second's result, and its two kernels of gradients.
// KERNELS: 'step_dispatch_6' ends here
// KERNELS-NOT: 'step_dispatch_7'
// CHECK: result[1]
// CHECK-NEXT: 1x2xf32=[51.11
// CHECK: result[2]
// CHECK-NEXT: 1x2x3xf32={{\[\[}}40.9068 -20.4534 -20.4534]
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @step(%q: tensor<1x2x2xbf16>, %k: tensor<1x3x2xbf16>, %v: tensor<1x3x2xbf16>, %g: tensor<1x2x2xbf16>, %a0: tensor<32x256x64xbf16>, %a1: tensor<32x256x64xbf16>, %a2: tensor<32x256x64xbf16>, %a3: tensor<32x256x64xbf16>) -> (tensor<1x2x2xf32>, tensor<1x2xf32>, tensor<1x2x3xf32>, tensor<32x256xf32>, tensor<32x256x64xf32>, tensor<32x256x64xf32>, tensor<32x256x64xf32>, tensor<32x256x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1x2x3xf32>
  %en = tensor.empty() : tensor<1x2x3xbf16>
  %er = tensor.empty() : tensor<1x2xf32>
  %eq = tensor.empty() : tensor<1x2x2xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<1x2xf32>) -> tensor<1x2xf32>
  %fl = linalg.fill ins(%least : f32) outs(%er : tensor<1x2xf32>) -> tensor<1x2xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<1x2x2xbf16>, tensor<1x3x2xbf16>)
      outs(%fs : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %m = linalg.reduce {arith.maximumf} ins(%s : tensor<1x2x3xf32>) outs(%fl : tensor<1x2xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<1x2x3xf32>, tensor<1x2xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  %t = linalg.reduce {arith.addf} ins(%p : tensor<1x2x3xf32>) outs(%fz : tensor<1x2xf32>) dimensions = [2]
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<1x2x3xf32>, tensor<1x2xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.divf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  %wn = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<1x2x3xf32>) outs(%en : tensor<1x2x3xbf16>) {
    ^bb0(%x: f32, %unused: bf16):
      %e = arith.truncf %x : f32 to bf16
      linalg.yield %e : bf16
  } -> tensor<1x2x3xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<1x2x3xbf16>, tensor<1x3x2xbf16>) outs(%fq : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %dw = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<1x2x2xbf16>, tensor<1x3x2xbf16>)
      outs(%fs : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %both = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %dw : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.mulf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  %rows = linalg.reduce {arith.addf} ins(%both : tensor<1x2x3xf32>) outs(%fz : tensor<1x2xf32>) dimensions = [2]
  %ds = linalg.generic {indexing_maps = [#all, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%both, %w, %rows : tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %r: f32, %unused: f32):
      %part = arith.mulf %y, %r : f32
      %e = arith.subf %x, %part : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  %1 = arith.constant 0.0 : f32
  %2 = tensor.empty() : tensor<32x256x256xf32>
  %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<32x256x256xf32>) -> tensor<32x256x256xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<32x256x64xbf16>, tensor<32x256x64xbf16>) outs(%3 : tensor<32x256x256xf32>) {
  ^bb0(%5: bf16, %6: bf16, %7: f32):
    %8 = arith.extf %5 : bf16 to f32
    %9 = arith.extf %6 : bf16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %7, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<32x256x256xf32>
  %12 = tensor.empty() : tensor<32x256x256xf32>
  %13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<32x256x256xf32>) outs(%12 : tensor<32x256x256xf32>) {
  ^bb0(%14: f32, %15: f32):
    %16 = arith.constant 0.125 : f32
    %17 = arith.mulf %14, %16 : f32
    linalg.yield %17 : f32
  } -> tensor<32x256x256xf32>
  %18 = arith.constant 0xFF800000 : f32
  %19 = tensor.empty() : tensor<32x256xf32>
  %20 = linalg.fill ins(%18 : f32) outs(%19 : tensor<32x256xf32>) -> tensor<32x256xf32>
  %21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%13 : tensor<32x256x256xf32>) outs(%20 : tensor<32x256xf32>) {
  ^bb0(%22: f32, %23: f32):
    %24 = arith.maximumf %23, %22 : f32
    linalg.yield %24 : f32
  } -> tensor<32x256xf32>
  %25 = tensor.empty() : tensor<32x256x256xf32>
  %26 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %21 : tensor<32x256x256xf32>, tensor<32x256xf32>) outs(%25 : tensor<32x256x256xf32>) {
  ^bb0(%27: f32, %28: f32, %29: f32):
    %30 = arith.subf %27, %28 : f32
    %31 = math.exp %30 : f32
    linalg.yield %31 : f32
  } -> tensor<32x256x256xf32>
  %32 = arith.constant 0.0 : f32
  %33 = tensor.empty() : tensor<32x256xf32>
  %34 = linalg.fill ins(%32 : f32) outs(%33 : tensor<32x256xf32>) -> tensor<32x256xf32>
  %35 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%26 : tensor<32x256x256xf32>) outs(%34 : tensor<32x256xf32>) {
  ^bb0(%36: f32, %37: f32):
    %38 = arith.addf %37, %36 : f32
    linalg.yield %38 : f32
  } -> tensor<32x256xf32>
  %39 = tensor.empty() : tensor<32x256xf32>
  %40 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%21, %35 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%39 : tensor<32x256xf32>) {
  ^bb0(%41: f32, %42: f32, %43: f32):
    %44 = math.log %42 : f32
    %45 = arith.addf %41, %44 : f32
    linalg.yield %45 : f32
  } -> tensor<32x256xf32>
  %46 = tensor.empty() : tensor<32x256x256xf32>
  %47 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %35 : tensor<32x256x256xf32>, tensor<32x256xf32>) outs(%46 : tensor<32x256x256xf32>) {
  ^bb0(%48: f32, %49: f32, %50: f32):
    %51 = arith.divf %48, %49 : f32
    linalg.yield %51 : f32
  } -> tensor<32x256x256xf32>
  %52 = tensor.empty() : tensor<32x256x256xbf16>
  %53 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<32x256x256xf32>) outs(%52 : tensor<32x256x256xbf16>) {
  ^bb0(%54: f32, %55: bf16):
    %56 = arith.truncf %54 : f32 to bf16
    linalg.yield %56 : bf16
  } -> tensor<32x256x256xbf16>
  %57 = arith.constant 0.0 : f32
  %58 = tensor.empty() : tensor<32x256x64xf32>
  %59 = linalg.fill ins(%57 : f32) outs(%58 : tensor<32x256x64xf32>) -> tensor<32x256x64xf32>
  %60 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53, %a2 : tensor<32x256x256xbf16>, tensor<32x256x64xbf16>) outs(%59 : tensor<32x256x64xf32>) {
  ^bb0(%61: bf16, %62: bf16, %63: f32):
    %64 = arith.extf %61 : bf16 to f32
    %65 = arith.extf %62 : bf16 to f32
    %66 = arith.mulf %64, %65 : f32
    %67 = arith.addf %63, %66 : f32
    linalg.yield %67 : f32
  } -> tensor<32x256x64xf32>
  %68 = arith.constant 0.0 : f32
  %69 = tensor.empty() : tensor<32x256x256xf32>
  %70 = linalg.fill ins(%68 : f32) outs(%69 : tensor<32x256x256xf32>) -> tensor<32x256x256xf32>
  %71 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a3, %a2 : tensor<32x256x64xbf16>, tensor<32x256x64xbf16>) outs(%70 : tensor<32x256x256xf32>) {
  ^bb0(%72: bf16, %73: bf16, %74: f32):
    %75 = arith.extf %72 : bf16 to f32
    %76 = arith.extf %73 : bf16 to f32
    %77 = arith.mulf %75, %76 : f32
    %78 = arith.addf %74, %77 : f32
    linalg.yield %78 : f32
  } -> tensor<32x256x256xf32>
  %79 = tensor.empty() : tensor<32x256x256xf32>
  %80 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %71 : tensor<32x256x256xf32>, tensor<32x256x256xf32>) outs(%79 : tensor<32x256x256xf32>) {
  ^bb0(%81: f32, %82: f32, %83: f32):
    %84 = arith.mulf %81, %82 : f32
    linalg.yield %84 : f32
  } -> tensor<32x256x256xf32>
  %85 = arith.constant 0.0 : f32
  %86 = tensor.empty() : tensor<32x256xf32>
  %87 = linalg.fill ins(%85 : f32) outs(%86 : tensor<32x256xf32>) -> tensor<32x256xf32>
  %88 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%80 : tensor<32x256x256xf32>) outs(%87 : tensor<32x256xf32>) {
  ^bb0(%89: f32, %90: f32):
    %91 = arith.addf %90, %89 : f32
    linalg.yield %91 : f32
  } -> tensor<32x256xf32>
  %92 = tensor.empty() : tensor<32x256x256xf32>
  %93 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %71, %88 : tensor<32x256x256xf32>, tensor<32x256x256xf32>, tensor<32x256xf32>) outs(%92 : tensor<32x256x256xf32>) {
  ^bb0(%94: f32, %95: f32, %96: f32, %97: f32):
    %98 = arith.subf %95, %96 : f32
    %99 = arith.constant 0.125 : f32
    %100 = arith.mulf %98, %99 : f32
    %101 = arith.mulf %94, %100 : f32
    linalg.yield %101 : f32
  } -> tensor<32x256x256xf32>
  %102 = tensor.empty() : tensor<32x256x256xbf16>
  %103 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<32x256x256xf32>) outs(%102 : tensor<32x256x256xbf16>) {
  ^bb0(%104: f32, %105: bf16):
    %106 = arith.truncf %104 : f32 to bf16
    linalg.yield %106 : bf16
  } -> tensor<32x256x256xbf16>
  %107 = arith.constant 0.0 : f32
  %108 = tensor.empty() : tensor<32x256x64xf32>
  %109 = linalg.fill ins(%107 : f32) outs(%108 : tensor<32x256x64xf32>) -> tensor<32x256x64xf32>
  %110 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%103, %a1 : tensor<32x256x256xbf16>, tensor<32x256x64xbf16>) outs(%109 : tensor<32x256x64xf32>) {
  ^bb0(%111: bf16, %112: bf16, %113: f32):
    %114 = arith.extf %111 : bf16 to f32
    %115 = arith.extf %112 : bf16 to f32
    %116 = arith.mulf %114, %115 : f32
    %117 = arith.addf %113, %116 : f32
    linalg.yield %117 : f32
  } -> tensor<32x256x64xf32>
  %118 = arith.constant 0.0 : f32
  %119 = tensor.empty() : tensor<32x256x64xf32>
  %120 = linalg.fill ins(%118 : f32) outs(%119 : tensor<32x256x64xf32>) -> tensor<32x256x64xf32>
  %121 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%103, %a0 : tensor<32x256x256xbf16>, tensor<32x256x64xbf16>) outs(%120 : tensor<32x256x64xf32>) {
  ^bb0(%122: bf16, %123: bf16, %124: f32):
    %125 = arith.extf %122 : bf16 to f32
    %126 = arith.extf %123 : bf16 to f32
    %127 = arith.mulf %125, %126 : f32
    %128 = arith.addf %124, %127 : f32
    linalg.yield %128 : f32
  } -> tensor<32x256x64xf32>
  %129 = tensor.empty() : tensor<32x256x256xbf16>
  %130 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<32x256x256xf32>) outs(%129 : tensor<32x256x256xbf16>) {
  ^bb0(%131: f32, %132: bf16):
    %133 = arith.truncf %131 : f32 to bf16
    linalg.yield %133 : bf16
  } -> tensor<32x256x256xbf16>
  %134 = arith.constant 0.0 : f32
  %135 = tensor.empty() : tensor<32x256x64xf32>
  %136 = linalg.fill ins(%134 : f32) outs(%135 : tensor<32x256x64xf32>) -> tensor<32x256x64xf32>
  %137 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%130, %a3 : tensor<32x256x256xbf16>, tensor<32x256x64xbf16>) outs(%136 : tensor<32x256x64xf32>) {
  ^bb0(%138: bf16, %139: bf16, %140: f32):
    %141 = arith.extf %138 : bf16 to f32
    %142 = arith.extf %139 : bf16 to f32
    %143 = arith.mulf %141, %142 : f32
    %144 = arith.addf %140, %143 : f32
    linalg.yield %144 : f32
  } -> tensor<32x256x64xf32>
  return %o, %rows, %ds, %40, %60, %110, %121, %137 : tensor<1x2x2xf32>, tensor<1x2xf32>, tensor<1x2x3xf32>, tensor<32x256xf32>, tensor<32x256x64xf32>, tensor<32x256x64xf32>, tensor<32x256x64xf32>, tensor<32x256x64xf32>
}
