// Attention of one token as exporters write it is one kernel: everything turned and reshaped to products of three dimensions; keys
// repeated by way of one dimension; keys of a number that is unknown, repeated in front of the heads' dimension, a maximum with its
// place beside it that nobody reads.
// RUN: tenon-compile %s --images=ptx --target=sm_90a --print-dispatches -o %t.tenon 2>&1 | FileCheck %s

// CHECK-NOT: _dispatch_1
// CHECK: kernel 'turned_dispatch_0' ends here
// CHECK-NOT: _dispatch_1
// CHECK: kernel 'flat_dispatch_0' ends here
// CHECK-NOT: _dispatch_1
// CHECK: kernel 'repeated_dispatch_0' ends here
// CHECK-NOT: _dispatch_1

func.func @turned(%a0: tensor<2x1x8x64xbf16>, %a1: tensor<2x200x2x64xbf16>, %a2: tensor<2x200x2x64xbf16>, %a3: tensor<2xi32>) -> (tensor<2x1x8x64xbf16>) {
  %1 = tensor.collapse_shape %a0 [[0, 1, 2, 3]] : tensor<2x1x8x64xbf16> into tensor<1024xbf16>
  %2 = tensor.expand_shape %1 [[0, 1, 2]] output_shape [4, 4, 64] : tensor<1024xbf16> into tensor<4x4x64xbf16>
  %3 = tensor.empty() : tensor<2x2x64x200xbf16>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a1 : tensor<2x200x2x64xbf16>) outs(%3 : tensor<2x2x64x200xbf16>) {
  ^bb0(%5: bf16, %6: bf16):
    linalg.yield %5 : bf16
  } -> tensor<2x2x64x200xbf16>
  %7 = tensor.collapse_shape %4 [[0, 1], [2], [3]] : tensor<2x2x64x200xbf16> into tensor<4x64x200xbf16>
  %8 = arith.constant 0.0 : f32
  %9 = tensor.empty() : tensor<4x4x200xf32>
  %10 = linalg.fill ins(%8 : f32) outs(%9 : tensor<4x4x200xf32>) -> tensor<4x4x200xf32>
  %11 = linalg.batch_matmul ins(%2, %7 : tensor<4x4x64xbf16>, tensor<4x64x200xbf16>) outs(%10 : tensor<4x4x200xf32>) -> tensor<4x4x200xf32>
  %12 = tensor.expand_shape %11 [[0, 1], [2, 3], [4]] output_shape [2, 2, 1, 4, 200] : tensor<4x4x200xf32> into tensor<2x2x1x4x200xf32>
  %13 = tensor.empty() : tensor<2x2x1x4x200xf32>
  %14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<2x2x1x4x200xf32>) outs(%13 : tensor<2x2x1x4x200xf32>) {
  ^bb0(%15: f32, %16: f32):
    %17 = arith.constant 0.125 : f32
    %18 = arith.mulf %15, %17 : f32
    linalg.yield %18 : f32
  } -> tensor<2x2x1x4x200xf32>
  %19 = tensor.empty() : tensor<2x2x1x4x200xf32>
  %20 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%14, %a3 : tensor<2x2x1x4x200xf32>, tensor<2xi32>) outs(%19 : tensor<2x2x1x4x200xf32>) {
  ^bb0(%21: f32, %22: i32, %23: f32):
    %25 = linalg.index 4 : index
    %26 = arith.index_cast %25 : index to i32
    %24 = arith.cmpi slt, %26, %22 : i32
    %27 = arith.constant 0xFF800000 : f32
    %28 = arith.select %24, %21, %27 : f32
    linalg.yield %28 : f32
  } -> tensor<2x2x1x4x200xf32>
  %29 = arith.constant 0xFF800000 : f32
  %30 = tensor.empty() : tensor<2x2x1x4xf32>
  %31 = linalg.fill ins(%29 : f32) outs(%30 : tensor<2x2x1x4xf32>) -> tensor<2x2x1x4xf32>
  %32 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%20 : tensor<2x2x1x4x200xf32>) outs(%31 : tensor<2x2x1x4xf32>) {
  ^bb0(%33: f32, %34: f32):
    %35 = arith.maximumf %34, %33 : f32
    linalg.yield %35 : f32
  } -> tensor<2x2x1x4xf32>
  %36 = tensor.empty() : tensor<4x2x2x1x200xf32>
  %37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x2x1x4x200xf32>) outs(%36 : tensor<4x2x2x1x200xf32>) {
  ^bb0(%38: f32, %39: f32):
    linalg.yield %38 : f32
  } -> tensor<4x2x2x1x200xf32>
  %40 = tensor.empty() : tensor<4x2x2x1x200xf32>
  %41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<2x2x1x4xf32>) outs(%40 : tensor<4x2x2x1x200xf32>) {
  ^bb0(%42: f32, %43: f32):
    linalg.yield %42 : f32
  } -> tensor<4x2x2x1x200xf32>
  %44 = tensor.empty() : tensor<4x2x2x1x200xf32>
  %45 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%37, %41 : tensor<4x2x2x1x200xf32>, tensor<4x2x2x1x200xf32>) outs(%44 : tensor<4x2x2x1x200xf32>) {
  ^bb0(%46: f32, %47: f32, %48: f32):
    %49 = arith.subf %46, %47 : f32
    linalg.yield %49 : f32
  } -> tensor<4x2x2x1x200xf32>
  %50 = tensor.empty() : tensor<4x2x2x1x200xf32>
  %51 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<4x2x2x1x200xf32>) outs(%50 : tensor<4x2x2x1x200xf32>) {
  ^bb0(%52: f32, %53: f32):
    %54 = math.exp %52 : f32
    linalg.yield %54 : f32
  } -> tensor<4x2x2x1x200xf32>
  %55 = arith.constant 0.0 : f32
  %56 = tensor.empty() : tensor<4x2x2x1xf32>
  %57 = linalg.fill ins(%55 : f32) outs(%56 : tensor<4x2x2x1xf32>) -> tensor<4x2x2x1xf32>
  %58 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%51 : tensor<4x2x2x1x200xf32>) outs(%57 : tensor<4x2x2x1xf32>) {
  ^bb0(%59: f32, %60: f32):
    %61 = arith.addf %60, %59 : f32
    linalg.yield %61 : f32
  } -> tensor<4x2x2x1xf32>
  %62 = tensor.empty() : tensor<4x2x2x1x200xf32>
  %63 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%58 : tensor<4x2x2x1xf32>) outs(%62 : tensor<4x2x2x1x200xf32>) {
  ^bb0(%64: f32, %65: f32):
    linalg.yield %64 : f32
  } -> tensor<4x2x2x1x200xf32>
  %66 = tensor.empty() : tensor<4x2x2x1x200xf32>
  %67 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%51, %63 : tensor<4x2x2x1x200xf32>, tensor<4x2x2x1x200xf32>) outs(%66 : tensor<4x2x2x1x200xf32>) {
  ^bb0(%68: f32, %69: f32, %70: f32):
    %71 = arith.divf %68, %69 : f32
    linalg.yield %71 : f32
  } -> tensor<4x2x2x1x200xf32>
  %72 = tensor.empty() : tensor<4x2x2x1x200xbf16>
  %73 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%67 : tensor<4x2x2x1x200xf32>) outs(%72 : tensor<4x2x2x1x200xbf16>) {
  ^bb0(%74: f32, %75: bf16):
    %76 = arith.truncf %74 : f32 to bf16
    linalg.yield %76 : bf16
  } -> tensor<4x2x2x1x200xbf16>
  %77 = tensor.empty() : tensor<2x2x200x4x1xbf16>
  %78 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d4, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%73 : tensor<4x2x2x1x200xbf16>) outs(%77 : tensor<2x2x200x4x1xbf16>) {
  ^bb0(%79: bf16, %80: bf16):
    linalg.yield %79 : bf16
  } -> tensor<2x2x200x4x1xbf16>
  %81 = tensor.collapse_shape %78 [[0, 1], [2], [3, 4]] : tensor<2x2x200x4x1xbf16> into tensor<4x200x4xbf16>
  %82 = tensor.empty() : tensor<2x2x64x200xbf16>
  %83 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a2 : tensor<2x200x2x64xbf16>) outs(%82 : tensor<2x2x64x200xbf16>) {
  ^bb0(%84: bf16, %85: bf16):
    linalg.yield %84 : bf16
  } -> tensor<2x2x64x200xbf16>
  %86 = tensor.collapse_shape %83 [[0, 1], [2], [3]] : tensor<2x2x64x200xbf16> into tensor<4x64x200xbf16>
  %87 = arith.constant 0.0 : bf16
  %88 = tensor.empty() : tensor<4x64x4xbf16>
  %89 = linalg.fill ins(%87 : bf16) outs(%88 : tensor<4x64x4xbf16>) -> tensor<4x64x4xbf16>
  %90 = linalg.batch_matmul ins(%86, %81 : tensor<4x64x200xbf16>, tensor<4x200x4xbf16>) outs(%89 : tensor<4x64x4xbf16>) -> tensor<4x64x4xbf16>
  %91 = tensor.expand_shape %90 [[0, 1], [2], [3, 4]] output_shape [2, 2, 64, 4, 1] : tensor<4x64x4xbf16> into tensor<2x2x64x4x1xbf16>
  %92 = tensor.empty() : tensor<4x2x1x2x64xbf16>
  %93 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%91 : tensor<2x2x64x4x1xbf16>) outs(%92 : tensor<4x2x1x2x64xbf16>) {
  ^bb0(%94: bf16, %95: bf16):
    linalg.yield %94 : bf16
  } -> tensor<4x2x1x2x64xbf16>
  %96 = tensor.empty() : tensor<2x1x2x4x64xbf16>
  %97 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%93 : tensor<4x2x1x2x64xbf16>) outs(%96 : tensor<2x1x2x4x64xbf16>) {
  ^bb0(%98: bf16, %99: bf16):
    linalg.yield %98 : bf16
  } -> tensor<2x1x2x4x64xbf16>
  %100 = tensor.collapse_shape %97 [[0], [1], [2, 3], [4]] : tensor<2x1x2x4x64xbf16> into tensor<2x1x8x64xbf16>
  return %100 : tensor<2x1x8x64xbf16>
}

func.func @flat(%a0: tensor<2x1x8x64xbf16>, %a1: tensor<2x200x2x64xbf16>, %a2: tensor<2x200x2x64xbf16>, %a3: tensor<2xi32>) -> (tensor<2x1x8x64xbf16>) {
  %1 = tensor.collapse_shape %a0 [[0, 1, 2, 3]] : tensor<2x1x8x64xbf16> into tensor<1024xbf16>
  %2 = tensor.expand_shape %1 [[0, 1, 2]] output_shape [16, 1, 64] : tensor<1024xbf16> into tensor<16x1x64xbf16>
  %3 = tensor.empty() : tensor<2x2x4x64x200xbf16>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d1, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%a1 : tensor<2x200x2x64xbf16>) outs(%3 : tensor<2x2x4x64x200xbf16>) {
  ^bb0(%5: bf16, %6: bf16):
    linalg.yield %5 : bf16
  } -> tensor<2x2x4x64x200xbf16>
  %7 = tensor.collapse_shape %4 [[0, 1, 2], [3], [4]] : tensor<2x2x4x64x200xbf16> into tensor<16x64x200xbf16>
  %8 = arith.constant 0.0 : f32
  %9 = tensor.empty() : tensor<16x1x200xf32>
  %10 = linalg.fill ins(%8 : f32) outs(%9 : tensor<16x1x200xf32>) -> tensor<16x1x200xf32>
  %11 = linalg.batch_matmul ins(%2, %7 : tensor<16x1x64xbf16>, tensor<16x64x200xbf16>) outs(%10 : tensor<16x1x200xf32>) -> tensor<16x1x200xf32>
  %12 = tensor.expand_shape %11 [[0, 1, 2], [3], [4]] output_shape [2, 2, 4, 1, 200] : tensor<16x1x200xf32> into tensor<2x2x4x1x200xf32>
  %13 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<2x2x4x1x200xf32>) outs(%13 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%15: f32, %16: f32):
    %17 = arith.constant 0.125 : f32
    %18 = arith.mulf %15, %17 : f32
    linalg.yield %18 : f32
  } -> tensor<2x2x4x1x200xf32>
  %19 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %20 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%14, %a3 : tensor<2x2x4x1x200xf32>, tensor<2xi32>) outs(%19 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%21: f32, %22: i32, %23: f32):
    %25 = linalg.index 4 : index
    %26 = arith.index_cast %25 : index to i32
    %24 = arith.cmpi slt, %26, %22 : i32
    %27 = arith.constant 0xFF800000 : f32
    %28 = arith.select %24, %21, %27 : f32
    linalg.yield %28 : f32
  } -> tensor<2x2x4x1x200xf32>
  %29 = arith.constant 0xFF800000 : f32
  %30 = tensor.empty() : tensor<2x2x4x1xf32>
  %31 = linalg.fill ins(%29 : f32) outs(%30 : tensor<2x2x4x1xf32>) -> tensor<2x2x4x1xf32>
  %32 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%20 : tensor<2x2x4x1x200xf32>) outs(%31 : tensor<2x2x4x1xf32>) {
  ^bb0(%33: f32, %34: f32):
    %35 = arith.maximumf %34, %33 : f32
    linalg.yield %35 : f32
  } -> tensor<2x2x4x1xf32>
  %36 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x2x4x1x200xf32>) outs(%36 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%38: f32, %39: f32):
    linalg.yield %38 : f32
  } -> tensor<2x2x4x1x200xf32>
  %40 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<2x2x4x1xf32>) outs(%40 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%42: f32, %43: f32):
    linalg.yield %42 : f32
  } -> tensor<2x2x4x1x200xf32>
  %44 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %45 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%37, %41 : tensor<2x2x4x1x200xf32>, tensor<2x2x4x1x200xf32>) outs(%44 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%46: f32, %47: f32, %48: f32):
    %49 = arith.subf %46, %47 : f32
    linalg.yield %49 : f32
  } -> tensor<2x2x4x1x200xf32>
  %50 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %51 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<2x2x4x1x200xf32>) outs(%50 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%52: f32, %53: f32):
    %54 = math.exp %52 : f32
    linalg.yield %54 : f32
  } -> tensor<2x2x4x1x200xf32>
  %55 = arith.constant 0.0 : f32
  %56 = tensor.empty() : tensor<2x2x4x1xf32>
  %57 = linalg.fill ins(%55 : f32) outs(%56 : tensor<2x2x4x1xf32>) -> tensor<2x2x4x1xf32>
  %58 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%51 : tensor<2x2x4x1x200xf32>) outs(%57 : tensor<2x2x4x1xf32>) {
  ^bb0(%59: f32, %60: f32):
    %61 = arith.addf %60, %59 : f32
    linalg.yield %61 : f32
  } -> tensor<2x2x4x1xf32>
  %62 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %63 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%58 : tensor<2x2x4x1xf32>) outs(%62 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%64: f32, %65: f32):
    linalg.yield %64 : f32
  } -> tensor<2x2x4x1x200xf32>
  %66 = tensor.empty() : tensor<2x2x4x1x200xf32>
  %67 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%51, %63 : tensor<2x2x4x1x200xf32>, tensor<2x2x4x1x200xf32>) outs(%66 : tensor<2x2x4x1x200xf32>) {
  ^bb0(%68: f32, %69: f32, %70: f32):
    %71 = arith.divf %68, %69 : f32
    linalg.yield %71 : f32
  } -> tensor<2x2x4x1x200xf32>
  %72 = tensor.empty() : tensor<2x2x4x1x200xbf16>
  %73 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%67 : tensor<2x2x4x1x200xf32>) outs(%72 : tensor<2x2x4x1x200xbf16>) {
  ^bb0(%74: f32, %75: bf16):
    %76 = arith.truncf %74 : f32 to bf16
    linalg.yield %76 : bf16
  } -> tensor<2x2x4x1x200xbf16>
  %77 = tensor.collapse_shape %73 [[0, 1, 2, 3, 4]] : tensor<2x2x4x1x200xbf16> into tensor<3200xbf16>
  %78 = tensor.expand_shape %77 [[0, 1, 2]] output_shape [16, 200, 1] : tensor<3200xbf16> into tensor<16x200x1xbf16>
  %79 = tensor.empty() : tensor<2x2x4x64x200xbf16>
  %80 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d1, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%a2 : tensor<2x200x2x64xbf16>) outs(%79 : tensor<2x2x4x64x200xbf16>) {
  ^bb0(%81: bf16, %82: bf16):
    linalg.yield %81 : bf16
  } -> tensor<2x2x4x64x200xbf16>
  %83 = tensor.collapse_shape %80 [[0, 1, 2], [3], [4]] : tensor<2x2x4x64x200xbf16> into tensor<16x64x200xbf16>
  %84 = arith.constant 0.0 : bf16
  %85 = tensor.empty() : tensor<16x64x1xbf16>
  %86 = linalg.fill ins(%84 : bf16) outs(%85 : tensor<16x64x1xbf16>) -> tensor<16x64x1xbf16>
  %87 = linalg.batch_matmul ins(%83, %78 : tensor<16x64x200xbf16>, tensor<16x200x1xbf16>) outs(%86 : tensor<16x64x1xbf16>) -> tensor<16x64x1xbf16>
  %88 = tensor.collapse_shape %87 [[0, 1, 2]] : tensor<16x64x1xbf16> into tensor<1024xbf16>
  %89 = tensor.expand_shape %88 [[0, 1, 2, 3]] output_shape [2, 1, 8, 64] : tensor<1024xbf16> into tensor<2x1x8x64xbf16>
  return %89 : tensor<2x1x8x64xbf16>
}

func.func @repeated(%a0: tensor<1x4x1x128xbf16>, %a1: tensor<1x2x?x128xbf16>, %a2: tensor<1x2x?x128xbf16>, %a3: tensor<1xi32>) -> (tensor<1x4x1x128xbf16>) {
  %c2 = arith.constant 2 : index
  %a1_d2 = tensor.dim %a1, %c2 : tensor<1x2x?x128xbf16>
  %a2_d2 = tensor.dim %a2, %c2 : tensor<1x2x?x128xbf16>
  %1 = tensor.empty(%a1_d2) : tensor<1x2x2x?x128xbf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%a1 : tensor<1x2x?x128xbf16>) outs(%1 : tensor<1x2x2x?x128xbf16>) {
  ^bb0(%3: bf16, %4: bf16):
    linalg.yield %3 : bf16
  } -> tensor<1x2x2x?x128xbf16>
  %5 = tensor.collapse_shape %2 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x128xbf16> into tensor<1x4x?x128xbf16>
  %6 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<1x4x?x128xbf16> into tensor<4x?x128xbf16>
  %7 = tensor.empty(%a1_d2) : tensor<1x2x2x?x128xbf16>
  %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%a2 : tensor<1x2x?x128xbf16>) outs(%7 : tensor<1x2x2x?x128xbf16>) {
  ^bb0(%9: bf16, %10: bf16):
    linalg.yield %9 : bf16
  } -> tensor<1x2x2x?x128xbf16>
  %11 = tensor.collapse_shape %8 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x128xbf16> into tensor<1x4x?x128xbf16>
  %12 = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<1x4x?x128xbf16> into tensor<4x?x128xbf16>
  %13 = tensor.empty(%a1_d2) : tensor<4x128x?xbf16>
  %14 = linalg.transpose ins(%6 : tensor<4x?x128xbf16>) outs(%13 : tensor<4x128x?xbf16>) permutation = [0, 2, 1]
  %15 = tensor.collapse_shape %a0 [[0, 1], [2], [3]] : tensor<1x4x1x128xbf16> into tensor<4x1x128xbf16>
  %16 = arith.constant 0.0 : f32
  %17 = tensor.empty(%a1_d2) : tensor<4x1x?xf32>
  %18 = linalg.fill ins(%16 : f32) outs(%17 : tensor<4x1x?xf32>) -> tensor<4x1x?xf32>
  %19 = linalg.batch_matmul ins(%15, %14 : tensor<4x1x128xbf16>, tensor<4x128x?xbf16>) outs(%18 : tensor<4x1x?xf32>) -> tensor<4x1x?xf32>
  %20 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [1, 4, 1, %a1_d2] : tensor<4x1x?xf32> into tensor<1x4x1x?xf32>
  %21 = tensor.empty(%a1_d2) : tensor<1x?xbf16>
  %22 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a3 : tensor<1xi32>) outs(%21 : tensor<1x?xbf16>) {
  ^bb0(%23: i32, %24: bf16):
    %26 = linalg.index 1 : index
    %27 = arith.index_cast %26 : index to i32
    %25 = arith.cmpi slt, %27, %23 : i32
    %28 = arith.constant 0.0 : bf16
    %29 = arith.constant -3.0e+38 : bf16
    %30 = arith.select %25, %28, %29 : bf16
    linalg.yield %30 : bf16
  } -> tensor<1x?xbf16>
  %31 = tensor.expand_shape %22 [[0], [1, 2, 3]] output_shape [1, 1, 1, %a1_d2] : tensor<1x?xbf16> into tensor<1x1x1x?xbf16>
  %32 = tensor.empty(%a1_d2) : tensor<1x4x1x?xf32>
  %33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<1x4x1x?xf32>) outs(%32 : tensor<1x4x1x?xf32>) {
  ^bb0(%34: f32, %35: f32):
    %36 = arith.constant 0.08838834764831845 : f32
    %37 = arith.mulf %34, %36 : f32
    linalg.yield %37 : f32
  } -> tensor<1x4x1x?xf32>
  %38 = tensor.empty(%a1_d2) : tensor<1x4x1x?xf32>
  %39 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %31 : tensor<1x4x1x?xf32>, tensor<1x1x1x?xbf16>) outs(%38 : tensor<1x4x1x?xf32>) {
  ^bb0(%40: f32, %41: bf16, %42: f32):
    %43 = arith.extf %41 : bf16 to f32
    %44 = arith.addf %40, %43 : f32
    linalg.yield %44 : f32
  } -> tensor<1x4x1x?xf32>
  %45 = arith.constant 0xFF800000 : f32
  %46 = tensor.empty() : tensor<1x4x1xf32>
  %47 = linalg.fill ins(%45 : f32) outs(%46 : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %48 = arith.constant 0 : i64
  %49 = tensor.empty() : tensor<1x4x1xi64>
  %50 = linalg.fill ins(%48 : i64) outs(%49 : tensor<1x4x1xi64>) -> tensor<1x4x1xi64>
  %51:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39 : tensor<1x4x1x?xf32>) outs(%47, %50 : tensor<1x4x1xf32>, tensor<1x4x1xi64>) {
  ^bb0(%53: f32, %54: f32, %55: i64):
    %57 = linalg.index 3 : index
    %58 = arith.index_cast %57 : index to i64
    %56 = arith.cmpf ogt, %53, %54 : f32
    %59 = arith.maximumf %53, %54 : f32
    %60 = arith.select %56, %58, %55 : i64
    linalg.yield %59, %60 : f32, i64
  } -> (tensor<1x4x1xf32>, tensor<1x4x1xi64>)
  %61 = tensor.expand_shape %51#0 [[0], [1], [2, 3]] output_shape [1, 4, 1, 1] : tensor<1x4x1xf32> into tensor<1x4x1x1xf32>
  %62 = tensor.empty(%a1_d2) : tensor<1x4x1x?xf32>
  %63 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %61 : tensor<1x4x1x?xf32>, tensor<1x4x1x1xf32>) outs(%62 : tensor<1x4x1x?xf32>) {
  ^bb0(%64: f32, %65: f32, %66: f32):
    %67 = arith.subf %64, %65 : f32
    %68 = math.exp %67 : f32
    linalg.yield %68 : f32
  } -> tensor<1x4x1x?xf32>
  %69 = arith.constant 0.0 : f32
  %70 = tensor.empty() : tensor<1x4x1x1xf32>
  %71 = linalg.fill ins(%69 : f32) outs(%70 : tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %72 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%63 : tensor<1x4x1x?xf32>) outs(%71 : tensor<1x4x1x1xf32>) {
  ^bb0(%73: f32, %74: f32):
    %75 = arith.addf %74, %73 : f32
    linalg.yield %75 : f32
  } -> tensor<1x4x1x1xf32>
  %76 = tensor.empty(%a1_d2) : tensor<1x4x1x?xbf16>
  %77 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63, %72 : tensor<1x4x1x?xf32>, tensor<1x4x1x1xf32>) outs(%76 : tensor<1x4x1x?xbf16>) {
  ^bb0(%78: f32, %79: f32, %80: bf16):
    %81 = arith.divf %78, %79 : f32
    %82 = arith.truncf %81 : f32 to bf16
    linalg.yield %82 : bf16
  } -> tensor<1x4x1x?xbf16>
  %83 = tensor.collapse_shape %77 [[0, 1], [2], [3]] : tensor<1x4x1x?xbf16> into tensor<4x1x?xbf16>
  %84 = arith.constant 0.0 : f32
  %85 = tensor.empty() : tensor<4x1x128xf32>
  %86 = linalg.fill ins(%84 : f32) outs(%85 : tensor<4x1x128xf32>) -> tensor<4x1x128xf32>
  %87 = linalg.batch_matmul ins(%83, %12 : tensor<4x1x?xbf16>, tensor<4x?x128xbf16>) outs(%86 : tensor<4x1x128xf32>) -> tensor<4x1x128xf32>
  %88 = tensor.empty() : tensor<4x1x128xbf16>
  %89 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87 : tensor<4x1x128xf32>) outs(%88 : tensor<4x1x128xbf16>) {
  ^bb0(%90: f32, %91: bf16):
    %92 = arith.truncf %90 : f32 to bf16
    linalg.yield %92 : bf16
  } -> tensor<4x1x128xbf16>
  %93 = tensor.expand_shape %89 [[0, 1], [2], [3]] output_shape [1, 4, 1, 128] : tensor<4x1x128xbf16> into tensor<1x4x1x128xbf16>
  return %93 : tensor<1x4x1x128xbf16>
}
