// As attention_kept_shared.mlir, where what rounds the gradient by queries has a number from outside, which is computed behind that product.
// RUN: rm -rf %t && tenon-compile %s --target=sm_90a --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: cat %t/*.ptx | FileCheck %s
// The weights are stored by copies.
// CHECK: cp.async.bulk.tensor.4d.global.shared::cta.bulk_group
func.func @run(%a0: tensor<3x8x3x384x128xbf16>, %a1: tensor<3x8x384x128xbf16>, %a2: tensor<3x8x384x128xbf16>, %a3: tensor<3x8x3x384x128xbf16>, %a4: tensor<3x8x3x384x128xbf16>, %a5: tensor<3x8x3x384xf32>, %a6: tensor<f32>) -> (tensor<3x8x3x384x128xbf16>, tensor<3x8x384x128xbf16>, tensor<3x8x384x128xbf16>) {
  %1 = arith.constant 0.0 : f32
  %2 = tensor.empty() : tensor<3x8x3x384x384xf32>
  %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<3x8x3x384x384xf32>) -> tensor<3x8x3x384x384xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<3x8x3x384x128xbf16>, tensor<3x8x384x128xbf16>) outs(%3 : tensor<3x8x3x384x384xf32>) {
  ^bb0(%5: bf16, %6: bf16, %7: f32):
    %8 = arith.extf %5 : bf16 to f32
    %9 = arith.extf %6 : bf16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %7, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<3x8x3x384x384xf32>
  %12 = tensor.empty() : tensor<3x8x3x384x384xf32>
  %13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%4, %a5 : tensor<3x8x3x384x384xf32>, tensor<3x8x3x384xf32>) outs(%12 : tensor<3x8x3x384x384xf32>) {
  ^bb0(%14: f32, %15: f32, %16: f32):
    %17 = arith.constant 0.08838834764831843 : f32
    %18 = arith.mulf %14, %17 : f32
    %19 = arith.subf %18, %15 : f32
    %20 = math.exp %19 : f32
    linalg.yield %20 : f32
  } -> tensor<3x8x3x384x384xf32>
  %21 = arith.truncf %13 : tensor<3x8x3x384x384xf32> to tensor<3x8x3x384x384xbf16>
  %22 = arith.constant 0.0 : f32
  %23 = tensor.empty() : tensor<3x8x3x384xf32>
  %24 = linalg.fill ins(%22 : f32) outs(%23 : tensor<3x8x3x384xf32>) -> tensor<3x8x3x384xf32>
  %25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a3, %a4 : tensor<3x8x3x384x128xbf16>, tensor<3x8x3x384x128xbf16>) outs(%24 : tensor<3x8x3x384xf32>) {
  ^bb0(%26: bf16, %27: bf16, %28: f32):
    %29 = arith.extf %26 : bf16 to f32
    %30 = arith.extf %27 : bf16 to f32
    %31 = arith.mulf %29, %30 : f32
    %32 = arith.addf %28, %31 : f32
    linalg.yield %32 : f32
  } -> tensor<3x8x3x384xf32>
  %33 = arith.constant 0.0 : f32
  %34 = tensor.empty() : tensor<3x8x3x384x384xf32>
  %35 = linalg.fill ins(%33 : f32) outs(%34 : tensor<3x8x3x384x384xf32>) -> tensor<3x8x3x384x384xf32>
  %36 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a4, %a2 : tensor<3x8x3x384x128xbf16>, tensor<3x8x384x128xbf16>) outs(%35 : tensor<3x8x3x384x384xf32>) {
  ^bb0(%37: bf16, %38: bf16, %39: f32):
    %40 = arith.extf %37 : bf16 to f32
    %41 = arith.extf %38 : bf16 to f32
    %42 = arith.mulf %40, %41 : f32
    %43 = arith.addf %39, %42 : f32
    linalg.yield %43 : f32
  } -> tensor<3x8x3x384x384xf32>
  %44 = tensor.empty() : tensor<3x8x3x384x384xf32>
  %45 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%13, %36, %25 : tensor<3x8x3x384x384xf32>, tensor<3x8x3x384x384xf32>, tensor<3x8x3x384xf32>) outs(%44 : tensor<3x8x3x384x384xf32>) {
  ^bb0(%46: f32, %47: f32, %48: f32, %49: f32):
    %50 = arith.subf %47, %48 : f32
    %51 = arith.mulf %46, %50 : f32
    %52 = arith.constant 0.08838834764831843 : f32
    %53 = arith.mulf %51, %52 : f32
    linalg.yield %53 : f32
  } -> tensor<3x8x3x384x384xf32>
  %54 = arith.truncf %45 : tensor<3x8x3x384x384xf32> to tensor<3x8x3x384x384xbf16>
  %55 = arith.constant 0.0 : f32
  %56 = tensor.empty() : tensor<3x8x3x384x128xf32>
  %57 = linalg.fill ins(%55 : f32) outs(%56 : tensor<3x8x3x384x128xf32>) -> tensor<3x8x3x384x128xf32>
  %58 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d4)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%54, %a1 : tensor<3x8x3x384x384xbf16>, tensor<3x8x384x128xbf16>) outs(%57 : tensor<3x8x3x384x128xf32>) {
  ^bb0(%59: bf16, %60: bf16, %61: f32):
    %62 = arith.extf %59 : bf16 to f32
    %63 = arith.extf %60 : bf16 to f32
    %64 = arith.mulf %62, %63 : f32
    %65 = arith.addf %61, %64 : f32
    linalg.yield %65 : f32
  } -> tensor<3x8x3x384x128xf32>
  %66 = arith.constant 0.0 : f32
  %67 = tensor.empty() : tensor<3x8x384x128xf32>
  %68 = linalg.fill ins(%66 : f32) outs(%67 : tensor<3x8x384x128xf32>) -> tensor<3x8x384x128xf32>
  %69 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5, d2)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5, d3)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%54, %a0 : tensor<3x8x3x384x384xbf16>, tensor<3x8x3x384x128xbf16>) outs(%68 : tensor<3x8x384x128xf32>) {
  ^bb0(%70: bf16, %71: bf16, %72: f32):
    %73 = arith.extf %70 : bf16 to f32
    %74 = arith.extf %71 : bf16 to f32
    %75 = arith.mulf %73, %74 : f32
    %76 = arith.addf %72, %75 : f32
    linalg.yield %76 : f32
  } -> tensor<3x8x384x128xf32>
  %77 = arith.constant 0.0 : f32
  %78 = tensor.empty() : tensor<3x8x384x128xf32>
  %79 = linalg.fill ins(%77 : f32) outs(%78 : tensor<3x8x384x128xf32>) -> tensor<3x8x384x128xf32>
  %80 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5, d2)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5, d3)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%21, %a4 : tensor<3x8x3x384x384xbf16>, tensor<3x8x3x384x128xbf16>) outs(%79 : tensor<3x8x384x128xf32>) {
  ^bb0(%81: bf16, %82: bf16, %83: f32):
    %84 = arith.extf %81 : bf16 to f32
    %85 = arith.extf %82 : bf16 to f32
    %86 = arith.mulf %84, %85 : f32
    %87 = arith.addf %83, %86 : f32
    linalg.yield %87 : f32
  } -> tensor<3x8x384x128xf32>
  %sc = tensor.extract %a6[] : tensor<f32>
  %sd = math.exp %sc : f32
  %e88 = tensor.empty() : tensor<3x8x3x384x128xbf16>
  %88 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%58 : tensor<3x8x3x384x128xf32>) outs(%e88 : tensor<3x8x3x384x128xbf16>) {
  ^bb0(%xx: f32, %oo: bf16):
    %s1 = arith.mulf %xx, %sd : f32
    %s2 = arith.truncf %s1 : f32 to bf16
    linalg.yield %s2 : bf16
  } -> tensor<3x8x3x384x128xbf16>
  %89 = arith.truncf %69 : tensor<3x8x384x128xf32> to tensor<3x8x384x128xbf16>
  %90 = arith.truncf %80 : tensor<3x8x384x128xf32> to tensor<3x8x384x128xbf16>
  return %88, %89, %90 : tensor<3x8x3x384x128xbf16>, tensor<3x8x384x128xbf16>, tensor<3x8x384x128xbf16>
}
