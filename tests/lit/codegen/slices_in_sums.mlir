// A step of a sum that goes past the end of a slice meets the slice's neighbours: no copy may bring these along. A read that a
// select throws away may leave its tensor, whatever its size.
// RUN: tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=both --input=400x256xf16=1 --input=400x256xf16=1 --input=72xf16=1 | FileCheck %s --check-prefix=BOTH
// RUN: tenon-run %t.tenon --device=emulator --function=to_the_end --input=136x256xf16=1 --input=136x256xf16=1 --input=72xf16=1 | FileCheck %s --check-prefix=BOTH
// RUN: tenon-run %t.tenon --device=emulator --function=next --input="5xf32=1 2 3 4 5" | FileCheck %s --check-prefix=NEXT

// BOTH: 256x256xf32=[72 72
func.func @both(%a: tensor<400x256xf16>, %b: tensor<400x256xf16>, %w: tensor<72xf16>) -> tensor<256x256xf32> {
  %as = tensor.extract_slice %a[64, 0] [72, 256] [1, 1] : tensor<400x256xf16> to tensor<72x256xf16>
  %bs = tensor.extract_slice %b[72, 0] [72, 256] [1, 1] : tensor<400x256xf16> to tensor<72x256xf16>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%as, %bs, %w : tensor<72x256xf16>, tensor<72x256xf16>, tensor<72xf16>) outs(%f : tensor<256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %q: f16, %o: f32):
    %xx = arith.extf %x : f16 to f32
    %yy = arith.extf %y : f16 to f32
    %p = arith.mulf %xx, %yy : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

func.func @to_the_end(%a: tensor<136x256xf16>, %b: tensor<136x256xf16>, %w: tensor<72xf16>) -> tensor<256x256xf32> {
  %as = tensor.extract_slice %a[64, 0] [72, 256] [1, 1] : tensor<136x256xf16> to tensor<72x256xf16>
  %bs = tensor.extract_slice %b[64, 0] [72, 256] [1, 1] : tensor<136x256xf16> to tensor<72x256xf16>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%as, %bs, %w : tensor<72x256xf16>, tensor<72x256xf16>, tensor<72xf16>) outs(%f : tensor<256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %q: f16, %o: f32):
    %xx = arith.extf %x : f16 to f32
    %yy = arith.extf %y : f16 to f32
    %p = arith.mulf %xx, %yy : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// NEXT: 5xf32=2 3 4 5 7
func.func @next(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.addi %i, %c1 : index
    %v = tensor.extract %x[%j] : tensor<?xf32>
    %inside = arith.cmpi ult, %j, %n : index
    %s = arith.select %inside, %v, %seven : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
