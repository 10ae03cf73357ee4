// Another rounding than to the nearest number is refused, wherever it is asked for.
// RUN: tenon-opt %s --tenon-lower-math --split-input-file --verify-diagnostics -o /dev/null

func.func @nearest(%x: tensor<8xf32>) -> tensor<8xbf16> {
  %0 = arith.truncf %x to_nearest_even : tensor<8xf32> to tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

func.func @zero(%x: tensor<8xf32>) -> tensor<8xbf16> {
  // expected-error @+1 {{'arith.truncf' rounds 'toward_zero', which is not supported; supported is 'to_nearest_even', the default}}
  %0 = arith.truncf %x toward_zero : tensor<8xf32> to tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

func.func @body(%x: tensor<8xf32>, %e: tensor<8xf16>) -> tensor<8xf16> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf16>) {
  ^bb0(%a: f32, %o: f16):
    // expected-error @+1 {{'arith.truncf' rounds 'upward'}}
    %v = arith.truncf %a upward : f32 to f16
    linalg.yield %v : f16
  } -> tensor<8xf16>
  return %0 : tensor<8xf16>
}
