// Products of a chain on Hopper take what there is of a tile of 64: of depth 40 three steps of 16, and 40 columns. Blocks stay for
// several tiles where those have two blocks of 128 keys or more, and no mask hides some; of one, a tile is a block.
// RUN: tenon-compile %s --target=sm_90a --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: FileCheck %s --input-file=%t/many_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=STAY --input-file=%t/many_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=FEW --input-file=%t/few_dispatch_0_sm_90a.ptx

// Scores of the first block, those of the next, what a block adds, and what the last one does: 1000 keys are no whole blocks, and the
// last is computed in the same loop.
// CHECK-COUNT-6: wgmma.mma_async.sync.aligned.m64n128k16
// CHECK-COUNT-16: wgmma.mma_async.sync.aligned.m64n40k16
// CHECK-NOT: wgmma.mma_async
// STAY: %nctaid.x
// FEW-NOT: %nctaid.x
func.func @many(%q: tensor<80x256x40xbf16>, %k: tensor<80x1000x40xbf16>, %lse: tensor<80x256xf32>, %g: tensor<80x1000x40xbf16>) -> tensor<80x256x40xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<80x256x1000xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<80x256x1000xf32>) -> tensor<80x256x1000xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<80x256x40xbf16>, tensor<80x1000x40xbf16>) outs(%fs : tensor<80x256x1000xf32>) -> tensor<80x256x1000xf32>
  %en = tensor.empty() : tensor<80x256x1000xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<80x256x1000xf32>, tensor<80x256xf32>) outs(%en : tensor<80x256x1000xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      %n = arith.truncf %e : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<80x256x1000xbf16>
  %eo = tensor.empty() : tensor<80x256x40xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<80x256x40xf32>) -> tensor<80x256x40xf32>
  %o = linalg.batch_matmul ins(%p, %g : tensor<80x256x1000xbf16>, tensor<80x1000x40xbf16>) outs(%fo : tensor<80x256x40xf32>) -> tensor<80x256x40xf32>
  %r = arith.truncf %o : tensor<80x256x40xf32> to tensor<80x256x40xbf16>
  return %r : tensor<80x256x40xbf16>
}
func.func @few(%q: tensor<80x256x40xbf16>, %k: tensor<80x128x40xbf16>, %lse: tensor<80x256xf32>, %g: tensor<80x128x40xbf16>) -> tensor<80x256x40xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<80x256x128xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<80x256x128xf32>) -> tensor<80x256x128xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<80x256x40xbf16>, tensor<80x128x40xbf16>) outs(%fs : tensor<80x256x128xf32>) -> tensor<80x256x128xf32>
  %en = tensor.empty() : tensor<80x256x128xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<80x256x128xf32>, tensor<80x256xf32>) outs(%en : tensor<80x256x128xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      %n = arith.truncf %e : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<80x256x128xbf16>
  %eo = tensor.empty() : tensor<80x256x40xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<80x256x40xf32>) -> tensor<80x256x40xf32>
  %o = linalg.batch_matmul ins(%p, %g : tensor<80x256x128xbf16>, tensor<80x128x40xbf16>) outs(%fo : tensor<80x256x40xf32>) -> tensor<80x256x40xf32>
  %r = arith.truncf %o : tensor<80x256x40xf32> to tensor<80x256x40xbf16>
  return %r : tensor<80x256x40xbf16>
}
