// RUN: tenon-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<4xf32>, %a: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{found dimension 1, 0 to 0 is wanted: the rank is 1}}
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : tensor<4xf32>) outs(%x, %a : tensor<4xf32>, tensor<f32>) {
  ^bb0(%b: f32, %c: f32):
    iree_linalg_ext.yield %b : f32
  } -> tensor<4xf32>, tensor<f32>
  return %0#0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{found 1 outs, 2 are wanted}}
  %0 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%b: f32, %c: f32):
    iree_linalg_ext.yield %b : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<2x4xf32>, %a: tensor<4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{found 'tensor<4xf32>' as the accumulator, sizes 2 are wanted}}
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : tensor<2x4xf32>) outs(%x, %a : tensor<2x4xf32>, tensor<4xf32>) {
  ^bb0(%b: f32, %c: f32):
    iree_linalg_ext.yield %b : f32
  } -> tensor<2x4xf32>, tensor<4xf32>
  return %0#0 : tensor<2x4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %a: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{found a region that takes ('f32', 'i32'), ('f32', 'f32') is wanted}}
  %0:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<4xf32>) outs(%x, %a : tensor<4xf32>, tensor<f32>) {
  ^bb0(%b: f32, %c: i32):
    iree_linalg_ext.yield %b : f32
  } -> tensor<4xf32>, tensor<f32>
  return %0#0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{found 'tensor<5xf32>' as an out, sizes 4 are wanted}}
  %0:2 = iree_linalg_ext.sort dimension(0) outs(%x, %y : tensor<4xf32>, tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xf32>, tensor<5xf32>
  return %0#0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{found a region that yields ('f32'), ('i1') is wanted}}
  %0 = iree_linalg_ext.sort dimension(0) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<9xf32>, %v: tensor<3xf32>, %i: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{found indices of 'f32', integers of the type of the indices that it takes are wanted}}
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%x : tensor<9xf32>) outs(%v, %i : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<3xf32>, tensor<3xf32>
  return %0#0 : tensor<3xf32>
}

// -----

func.func @f(%x: tensor<3x4xf32>, %i: tensor<3x2xi32>, %to: tensor<9x4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{found 2 in dimension_map, a dimension of 'tensor<9x4xf32>' that it names once is wanted}}
  %0 = iree_linalg_ext.scatter dimension_map = [0, 2] unique_indices(true) ins(%x, %i : tensor<3x4xf32>, tensor<3x2xi32>) outs(%to : tensor<9x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

func.func @f(%x: tensor<3x4xf32>, %i: tensor<3x3xi32>, %to: tensor<9x4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{found 'tensor<3x3xi32>' as indices, 2 in the last dimension is wanted: dimension_map has so many entries}}
  %0 = iree_linalg_ext.scatter dimension_map = [0, 1] unique_indices(true) ins(%x, %i : tensor<3x4xf32>, tensor<3x3xi32>) outs(%to : tensor<9x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

func.func @f(%x: tensor<3x4xf32>, %i: tensor<5x1xi32>, %to: tensor<9x4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{the same sizes are wanted in the first 1 dimensions}}
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%x, %i : tensor<3x4xf32>, tensor<5x1xi32>) outs(%to : tensor<9x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %to: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{found a region that yields ('index', 'i1'), ('index', 'index', 'i1') is wanted}}
  %0 = iree_linalg_ext.map_store %x into %to {
  ^bb0(%i: index):
    %true = arith.constant true
    iree_linalg_ext.yield %i, %true : index, i1
  } : tensor<4xf32> into tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %s: i32) -> tensor<4xf32> {
  // expected-error @+1 {{found ins of types 'i32', an index, or an index and two tensors of coefficients, is wanted}}
  %0:2 = iree_linalg_ext.fft ins(%s : i32) outs(%x, %x : tensor<4xf32>, tensor<4xf32>) : tensor<4xf32>, tensor<4xf32>
  return %0#0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{found operand 3 of type 'tensor<4x4xf32>', a float is wanted, the scale in front of the mask}}
  %0 = iree_linalg_ext.attention ins(%x, %x, %x, %x, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{needs a region that takes a score and yields one of its type}}
  %0 = iree_linalg_ext.attention <indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>]>
      ins(%x, %x, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%s: f32):
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{found an out of type 'tensor<5xf32>' and a result of type 'tensor<5xf32>', that of the in, 'tensor<4xf32>', is wanted}}
  %0 = iree_linalg_ext.softmax dimension(0) ins(%x : tensor<4xf32>) outs(%y : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{found dimension 0 twice}}
  %0 = iree_linalg_ext.reverse dimensions(dense<[0, 0]> : tensor<2xi64>) ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<1x8x8x1xf32>, %y: tensor<6x6x1x2x2x1xf32>) -> tensor<6x6x1x2x2x1xf32> {
  // expected-error @+1 {{found results of 4 x 4 and filters of 3 x 3, 6 x 6 and 3 x 3 are wanted}}
  %0 = iree_linalg_ext.winograd.input_transform output_tile_size(4) kernel_size(3) image_dimensions([1, 2])
      ins(%x : tensor<1x8x8x1xf32>) outs(%y : tensor<6x6x1x2x2x1xf32>) -> tensor<6x6x1x2x2x1xf32>
  return %0 : tensor<6x6x1x2x2x1xf32>
}

// -----

func.func @f(%x: tensor<1x1x8x8xf32>, %y: tensor<8x8x1x2x2x1xf32>) -> tensor<8x8x1x2x2x1xf32> {
  // expected-error @+1 {{found rows and columns in dimensions [1, 3], [1, 2] or [2, 3] are wanted}}
  %0 = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) image_dimensions([1, 3])
      ins(%x : tensor<1x1x8x8xf32>) outs(%y : tensor<8x8x1x2x2x1xf32>) -> tensor<8x8x1x2x2x1xf32>
  return %0 : tensor<8x8x1x2x2x1xf32>
}

// -----

func.func @f(%x: tensor<4x4x1x1xf32>, %y: tensor<8x8x1x1xf32>) -> tensor<8x8x1x1xf32> {
  // expected-error @+1 {{found filters 'tensor<4x4x1x1xf32>', 3 x 3 in dimensions [0, 1] are wanted}}
  %0 = iree_linalg_ext.winograd.filter_transform output_tile_size(6) kernel_size(3) kernel_dimensions([0, 1])
      ins(%x : tensor<4x4x1x1xf32>) outs(%y : tensor<8x8x1x1xf32>) -> tensor<8x8x1x1xf32>
  return %0 : tensor<8x8x1x1xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{found a region that takes 'tensor<5xf32>', tiles of 'tensor<4xf32>' are wanted}}
  %0 = iree_linalg_ext.custom_op outs(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<5xf32>):
    iree_linalg_ext.yield %a : tensor<5xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{found a region without 'iree_linalg_ext.yield' at its end}}
  %0 = iree_linalg_ext.custom_op outs(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<?xf32>):
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'parallel' or 'reduction'}}
#loop = #iree_linalg_ext.iterator_type<linear>

// -----

func.func @f() -> tensor<4xf32> {
  // expected-error @+1 {{found 'tensor<4xf32>', the sizes in front of it are wanted}}
  %0 = linalg.init_tensor [4, 3] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%named: tensor<8xi16>, %table: tensor<9x4xi32>) -> tensor<9x4xi32> {
  // expected-error @+1 {{found experts of type 'i16', i32 or i64 is wanted}}
  %0 = iree_linalg_ext.route experts(8) ins(%named : tensor<8xi16>) outs(%table : tensor<9x4xi32>) -> tensor<9x4xi32>
  return %0 : tensor<9x4xi32>
}

// -----

func.func @f(%named: tensor<8xi32>, %table: tensor<9x3xi32>) -> tensor<9x3xi32> {
  // expected-error @+1 {{found a table of type 'tensor<9x3xi32>', rows of 4 are wanted}}
  %0 = iree_linalg_ext.route experts(8) ins(%named : tensor<8xi32>) outs(%table : tensor<9x3xi32>) -> tensor<9x3xi32>
  return %0 : tensor<9x3xi32>
}

// -----

func.func @f(%named: tensor<8xi32>, %table: tensor<9x4xi32>) -> tensor<9x4xi32> {
  // expected-error @+1 {{found 0 experts, 1 to 2048 are wanted}}
  %0 = iree_linalg_ext.route experts(0) ins(%named : tensor<8xi32>) outs(%table : tensor<9x4xi32>) -> tensor<9x4xi32>
  return %0 : tensor<9x4xi32>
}

// -----

func.func @f(%named: tensor<8xi32>, %table: tensor<9x4xi32>) -> tensor<9x4xi32> {
  // expected-error @+1 {{found -1 experts, 1 to 2048 are wanted}}
  %0 = iree_linalg_ext.route experts(-1) ins(%named : tensor<8xi32>) outs(%table : tensor<9x4xi32>) -> tensor<9x4xi32>
  return %0 : tensor<9x4xi32>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found 1 ins: a tensor, a scale and, if there is one, a zero point are wanted}}
  %0 = iree_linalg_ext.quantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 127> ins(%x : tensor<2x3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found 2 indexing_maps, one for each in and one for the result, 3, are wanted}}
  %0 = iree_linalg_ext.quantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 127> ins(%x, %s : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found affine_map<(d0, d1) -> (d0, d1)> for 'tensor<3xf32>', some of 2 loops are wanted}}
  %0 = iree_linalg_ext.quantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 127> ins(%x, %s : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found affine_map<(d0, d1) -> (d0)> for 'tensor<2x3xf32>', a permutation of 2 loops is wanted}}
  %0 = iree_linalg_ext.quantize_affine <indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 127> ins(%x, %s : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found quant_min = -128 and quant_max = 128, of 'i8' bounds between -128 and 127 are wanted}}
  %0 = iree_linalg_ext.quantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 128> ins(%x, %s : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found quant_min = -1 and quant_max = 255, of unsigned 'i8' bounds between 0 and 255 are wanted}}
  %0 = iree_linalg_ext.quantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -1, quant_max = 255, storage_unsigned> ins(%x, %s : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found 'f32' for 'i8' by a scale of 'f32' and a zero point of 'f32': integers without a sign, floats, a float, and either are wanted}}
  %0 = iree_linalg_ext.dequantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 127> ins(%x, %s : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // expected-error @+1 {{found no quant_max, bounds are wanted}}
  %0 = iree_linalg_ext.quantize_affine {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128} ins(%x, %s : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @f(%x: tensor<4x4xf32>, %r: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{found the map affine_map<(d0, d1, d2, d3) -> (d1)> for 'tensor<4xf32>', the loops of the batch and the queries are wanted}}
  %0:3 = iree_linalg_ext.online_attention {indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>, affine_map<(m, n, d, e) -> (m)>, affine_map<(m, n, d, e) -> (n)>]}
      ins(%x, %x, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%x, %r, %r : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0#0 : tensor<4x4xf32>
}

// -----

func.func @f(%x: tensor<2x3xi8>, %s: tensor<3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{found "storage_unsigned", 'input_unsigned' and 'zp_unsigned' are wanted}}
  %0 = iree_linalg_ext.dequantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], storage_unsigned> ins(%x, %s : tensor<2x3xi8>, tensor<3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{found 1 outs, 3 are wanted}}
  %0 = iree_linalg_ext.online_attention {indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>]}
      ins(%x, %x, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>]}
      ins(%x, %x, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%s: f32):
    // expected-error @+1 {{found loop d2, one of the batch, the queries or the keys is wanted}}
    %i = iree_linalg_ext.index 2 : index
    iree_linalg_ext.yield %s : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %m: tensor<3xi1>, %o: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{found 'tensor<3xi1>' as a mask, sizes 2 are wanted}}
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i, %m : tensor<4xf32>, tensor<2x1xi32>, tensor<3xi1>) outs(%o : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %m: tensor<2xi8>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{found a mask of 'i8', i1 is wanted}}
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i, %m : tensor<2xf32>, tensor<2x1xi32>, tensor<2xi8>) outs(%x : tensor<4xf32>) {
  ^bb0(%new: f32, %before: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tiles_of_other_sides(%i: tensor<2x8x8x4xf32>, %o: tensor<35x8x4xf32>) -> tensor<35x8x4xf32> {
  // expected-error@+1 {{planes}}
  %r = iree_linalg_ext.tile_transform {matrix = array<f64: 1.0, 0.0, 0.0, 1.0>, rows = 2 : i64, order = array<i64: 0, 1, 2, 3>, tiles = array<i64: 2, 2>, low = array<i64: 0, 0>, step = 4 : i64, turned = false, maps = []} ins(%i : tensor<2x8x8x4xf32>) outs(%o : tensor<35x8x4xf32>) -> tensor<35x8x4xf32>
  return %r : tensor<35x8x4xf32>
}

// -----

func.func @tiles_of_no_image(%i: tensor<2x8x8xf32>, %o: tensor<4x8x4xf32>) -> tensor<4x8x4xf32> {
  // expected-error@+1 {{an image and planes are wanted}}
  %r = iree_linalg_ext.tile_transform {matrix = array<f64: 1.0, 0.0, 0.0, 1.0>, rows = 2 : i64, order = array<i64: 0, 1, 2, 3>, tiles = array<i64: 2, 2>, low = array<i64: 0, 0>, step = 4 : i64, turned = false, maps = []} ins(%i : tensor<2x8x8xf32>) outs(%o : tensor<4x8x4xf32>) -> tensor<4x8x4xf32>
  return %r : tensor<4x8x4xf32>
}

// -----

func.func @tiles_of_halves(%i: tensor<2x8x8x4xf16>, %o: tensor<4x8x4xf16>) -> tensor<4x8x4xf16> {
  // expected-error@+1 {{f32 of known sizes are wanted}}
  %r = iree_linalg_ext.tile_transform {matrix = array<f64: 1.0, 0.0, 0.0, 1.0>, rows = 2 : i64, order = array<i64: 0, 1, 2, 3>, tiles = array<i64: 2, 2>, low = array<i64: 0, 0>, step = 4 : i64, turned = false, maps = []} ins(%i : tensor<2x8x8x4xf16>) outs(%o : tensor<4x8x4xf16>) -> tensor<4x8x4xf16>
  return %r : tensor<4x8x4xf16>
}

// -----

func.func @tiles_that_overlap_in_a_result(%i: tensor<4x8x4xf32>, %o: tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> {
  // expected-error@+1 {{an image of tiles side by side is wanted}}
  %r = iree_linalg_ext.tile_transform {matrix = array<f64: 1.0, 0.0, 0.0, 1.0>, rows = 2 : i64, order = array<i64: 0, 1, 2, 3>, tiles = array<i64: 2, 2>, low = array<i64: 0, 0>, step = 1 : i64, turned = false, maps = []} ins(%i : tensor<4x8x4xf32>) outs(%o : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}

// -----
func.func @f(%p: tensor<16x4x8xf32>, %b: tensor<7xf32>, %y: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  // expected-error @+1 {{a map from an image of type 'tensor<1x4x4x8xf32>' to 'tensor<7xf32>' is wanted, by dimensions that are as large, or 0}}
  %0 = iree_linalg_ext.tile_transform {low = array<i64: 0, 0>, maps = [affine_map<(n, h, w, c) -> (c)>], order = array<i64: 0, 1, 2, 3>, rows = 2 : i64, step = 2 : i64, tiles = array<i64: 2, 2>,
      turned = false, matrix = array<f64: 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, 1.0>}
      ins(%p, %b : tensor<16x4x8xf32>, tensor<7xf32>) outs(%y : tensor<1x4x4x8xf32>) {
  ^bb0(%s: f32, %t: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}
