// A step whose counter only a kernel sees.
func.func @step(%x: tensor<?xf32>, %t: i32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = arith.sitofp %t : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
// A loop of as many rounds as the caller says: a sum of each row is in its way, so that a round is two kernels.
func.func @rounds(%x: tensor<64x512xf32>, %count: i32) -> tensor<64x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %count : i32 to index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<64x512xf32> {
    %e = tensor.empty() : tensor<512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.reduce ins(%v : tensor<64x512xf32>) outs(%f : tensor<512xf32>) dimensions = [0]
      (%a: f32, %b: f32) { %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }
    %o = tensor.empty() : tensor<64x512xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v, %s : tensor<64x512xf32>, tensor<512xf32>) outs(%o : tensor<64x512xf32>) {
    ^bb0(%a: f32, %b: f32, %q: f32):
      %h = arith.constant 0.001 : f32
      %m = arith.mulf %b, %h : f32
      %d = arith.subf %a, %m : f32
      linalg.yield %d : f32
    } -> tensor<64x512xf32>
    scf.yield %w : tensor<64x512xf32>
  }
  return %r : tensor<64x512xf32>
}
// A growing length whose transients grow with it.
func.func @grow(%x: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty(%n) : tensor<?x1024xf32>
  %e = tensor.empty() : tensor<1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %y = linalg.exp ins(%x : tensor<?x1024xf32>) outs(%o : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %s = linalg.reduce ins(%y : tensor<?x1024xf32>) outs(%f : tensor<1024xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%y, %s : tensor<?x1024xf32>, tensor<1024xf32>) outs(%o : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %q: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<?x1024xf32>
  return %w : tensor<?x1024xf32>
}
