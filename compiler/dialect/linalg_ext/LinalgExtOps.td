// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext: operations along a dimension that no loop nest of linalg says, in the text that IREE prints. All of
// them take tensors and return new ones; `outs` gives what results start from and measure.
#ifndef TENON_COMPILER_DIALECT_LINALG_EXT_OPS
#define TENON_COMPILER_DIALECT_LINALG_EXT_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LinalgExt_Dialect : Dialect {
  let name = "iree_linalg_ext";
  let summary = "scans, sorts, scatters and their like";
  let cppNamespace = "::tenon::compiler::linalg_ext";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
  public:
  }];
}

def LinalgExt_IteratorTypeAttr : AttrDef<LinalgExt_Dialect, "IteratorType"> {
  let mnemonic = "iterator_type";
  let summary = "of a loop: #iree_linalg_ext.iterator_type<parallel>, or <reduction>";
  let parameters = (ins StringRefParameter<"the word">:$word);
  let hasCustomAssemblyFormat = 1;
}

class LinalgExt_Op<string word, list<Trait> traits = []>
    : Op<LinalgExt_Dialect, word, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

def LinalgExt_YieldOp : Op<LinalgExt_Dialect, "yield", [Pure, ReturnLike, Terminator]> {
  let summary = "what a region computes";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def LinalgExt_ScanOp : LinalgExt_Op<"scan", [AttrSizedOperandSegments]> {
  let summary = "running combination along a dimension";
  let description = [{
    out[0] is in[0] (inclusive) or the accumulator (exclusive), out[i] is region(out[i - 1], in[i]) or
    region(out[i - 1], in[i - 1]). The second result holds the last element of each row, or the accumulator where a row
    is empty.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension,
                       BoolAttr:$inclusive);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)`
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    $region (`->` type($results)^)?
  }];
}

def LinalgExt_SortOp : LinalgExt_Op<"sort", [AttrSizedOperandSegments]> {
  let summary = "rows in the order of a comparator";
  let description = [{
    All operands are permuted alike. The region takes two elements of each operand and says whether the first ones come
    before the second. What it does not tell apart keeps its order.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $region (`->` type($results)^)?
  }];
}

class LinalgExt_TopkBase<string word, dag more, string flag> : LinalgExt_Op<word, [AttrSizedOperandSegments]> {
  let summary = "the first k of each row in the order of a comparator";
  let description = [{
    Takes values and, optionally, an index for each; otherwise its position is. The region says whether its first value
    comes before its second; of equal ones the one at the lowest position comes first. The outs are k elements that
    stand before the row: what fills a short row.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension),
                       more);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "attr-dict `dimension` `(` $dimension `)` " # flag # [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    $region (`->` type($results)^)?
  }];
}

def LinalgExt_TopkOp : LinalgExt_TopkBase<"topk", (ins), "">;
// The same with a result that may stay in any order, and indices that may be left out. Here it is sorted anyway.
def LinalgExt_TopkV2Op : LinalgExt_TopkBase<"topk_v2", (ins UnitAttr:$is_sorted), "(`is_sorted` $is_sorted^)? ">;

def LinalgExt_ScatterOp : LinalgExt_Op<"scatter", [AttrSizedOperandSegments]> {
  let summary = "slices combined with the elements of a tensor at places that another one names";
  let description = [{
    For each update u, in order, and each element of its slice: original[place] = region(update, original[place]), where
    place is indices[u, :] along the dimensions of dimension_map, plus the position in the slice. `unique_indices(true)`
    promises that no place is named twice. What lies outside of the tensor is left out.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                       DenseI64ArrayAttr:$dimension_map, DefaultValuedAttr<BoolAttr, "true">:$unique_indices);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    attr-dict custom<DimensionMap>($dimension_map) `unique_indices` `(` $unique_indices `)`
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    $region (`->` type($results)^)?
  }];
}

def LinalgExt_RouteOp : LinalgExt_Op<"route"> {
  let summary = "rows in the order of their experts, and tiles of them: not IREE's, dispatch/experts makes it";
  let description = [{
    The table that dispatch/analysis/products/routes.h describes, of rows that each name an expert below `experts`.
  }];
  let arguments = (ins AnyRankedTensor:$named, AnyRankedTensor:$output, I64Attr:$experts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict `experts` `(` $experts `)` `ins` `(` $named `:` type($named) `)`
    `outs` `(` $output `:` type($output) `)` `->` type($result)
  }];
}

def LinalgExt_TileTransformOp : LinalgExt_Op<"tile_transform"> {
  let summary = "overlapping tiles between two small matrices (Winograd): not IREE's, dispatch/winograd makes it";
  let description = [{
    L d L^T for each tile d of each channel, where L is `matrix`, of `rows` rows. One of the first input and the output is
    an image, whose dimensions n, h, w, c stand at the places `order`; the other one holds planes, [places of a tile, all
    tiles, channels], or with `turned` [places, channels, all tiles]. Tiles are counted image by image, `tiles` of them
    down and across.

    Of an image, tile (y, x) begins at (y * step - low[0], x * step - low[1]), and is as large as L has columns; what is
    outside of the image is 0. Planes become an image of whose tiles, as large as L has rows, `low` is 0; what is outside
    is not stored. There the region, if any, is given each result and elements of the inputs behind the first one, which
    `maps` find from the image's place, and yields what is stored. All are f32 of known sizes.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, AnyRankedTensor:$output, DenseF64ArrayAttr:$matrix,
                       I64Attr:$rows, DenseI64ArrayAttr:$order, DenseI64ArrayAttr:$tiles, DenseI64ArrayAttr:$low,
                       I64Attr:$step, BoolAttr:$turned, AffineMapArrayAttr:$maps);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region AnyRegion:$region);
  let assemblyFormat = [{
    attr-dict `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $output `:` type($output) `)`
    custom<OptionalRegion>($region) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Whether it takes an image apart.
    bool makesPlanes() { return ::mlir::cast<::mlir::RankedTensorType>(getInputs()[0].getType()).getRank() == 4; }
    int64_t columns() { return int64_t(getMatrix().size()) / int64_t(getRows()); }
  }];
}

def LinalgExt_GatherOp : LinalgExt_Op<"gather", [AttrSizedOperandSegments]> {
  let summary = "slices of a tensor at places that another one names";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                       DenseI64ArrayAttr:$dimension_map);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  // Text of 2025 gives a body of the element and what stood there; older and newer text has none.
  let regions = (region AnyRegion:$region);
  let assemblyFormat = [{
    attr-dict custom<DimensionMap>($dimension_map)
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    custom<OptionalRegion>($region) (`->` type($results)^)?
  }];
}

def LinalgExt_ArgCompareOp : LinalgExt_Op<"arg_compare", [AttrSizedOperandSegments]> {
  let summary = "the element of each row that comes first in the order of a comparator, and its index";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                       Optional<Index>:$index_base, I64Attr:$dimension);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)`
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    (`index_base` `(` $index_base^ `:` type($index_base) `)`)?
    $region (`->` type($results)^)?
  }];
}

class LinalgExt_MapOp<string word, string what> : LinalgExt_Op<word> {
  let summary = what;
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$output);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$region);
}

// Until 2025 map_store was called map_scatter, and map_load map_gather.
class LinalgExt_MapStoreBase<string word>
    : LinalgExt_MapOp<word, "each element stored where a body of its indices says, if it says so"> {
  let assemblyFormat = "attr-dict $input `into` $output $region `:` type($input) `into` type($output) `->` type($result)";
}
def LinalgExt_MapStoreOp : LinalgExt_MapStoreBase<"map_store">;
def LinalgExt_MapScatterOp : LinalgExt_MapStoreBase<"map_scatter">;

class LinalgExt_MapLoadBase<string word>
    : LinalgExt_MapOp<word, "each element read from where a body of its indices says, or what it gives instead"> {
  let assemblyFormat = "attr-dict $input `into` $output $region `:` type($input) `into` type($output) `->` type($result)";
}
def LinalgExt_MapLoadOp : LinalgExt_MapLoadBase<"map_load">;
def LinalgExt_MapGatherOp : LinalgExt_MapLoadBase<"map_gather">;

def LinalgExt_FftOp : LinalgExt_Op<"fft", [AttrSizedOperandSegments]> {
  let summary = "one stage of a fast Fourier transform along the last dimension";
  let description = [{
    Stage s of the iterative form: groups of m = 2^s elements are halves (u, v) that become u + w^k v and u - w^k v,
    where w^k = exp(-2 pi i k / m), or is read from coefficients.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` (`:` type($results)^)?
  }];
}


// Text before 2025 has these two: what is linalg.softmax today, and the elements in reverse order.
def LinalgExt_SoftmaxOp : LinalgExt_Op<"softmax"> {
  let summary = "softmax along a dimension";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$output, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `ins` `(` $input `:` type($input) `)`
    `outs` `(` $output `:` type($output) `)` `->` type($result)
  }];
}

def LinalgExt_ReverseOp : LinalgExt_Op<"reverse"> {
  let summary = "the elements along dimensions in reverse order";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$output, I64ElementsAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict `dimensions` `(` $dimensions `)` `ins` `(` $input `:` type($input) `)`
    `outs` `(` $output `:` type($output) `)` `:` type($result)
  }];
}

// Winograd's convolution of 3 x 3 filters, 6 x 6 results at a time; tiles have 8 x 8 elements (input/tensors/linalg_ext/winograd).
class LinalgExt_WinogradOp<string word, string dimensions, string what> : LinalgExt_Op<word> {
  let summary = what;
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$output, I64Attr:$output_tile_size, I64Attr:$kernel_size,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict `output_tile_size` `(` $output_tile_size `)` `kernel_size` `(` $kernel_size `)`
  }] # dimensions # [{
    `ins` `(` $input `:` type($input) `)` `outs` `(` $output `:` type($output) `)` `->` type($result)
  }];
}
def LinalgExt_WinogradInputOp : LinalgExt_WinogradOp<"winograd.input_transform", "custom<ImageDimensions>($dimensions)",
    "tiles of images, transformed: tensor<8x8xNxHxWxC>">;
def LinalgExt_WinogradFilterOp : LinalgExt_WinogradOp<"winograd.filter_transform", "`kernel_dimensions` `(` $dimensions `)`",
    "filters, transformed: tensor<8x8xCxF>">;
def LinalgExt_WinogradOutputOp : LinalgExt_WinogradOp<"winograd.output_transform", "custom<ImageDimensions>($dimensions)",
    "images of products of transformed tiles">;

def LinalgExt_CustomOp : LinalgExt_Op<"custom_op", [AttrSizedOperandSegments]> {
  let summary = "operations on tensors that may be computed tile by tile together";
  let description = [{
    The region says what a tile of the results is, by tiles of the operands; of whole operands it is the whole results.
    How `indexing_maps` and `iterator_types` divide them is up to the compiler, and here nothing is divided.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                       OptionalAttr<AffineMapArrayAttr>:$indexing_maps, OptionalAttr<ArrayAttr>:$iterator_types);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    custom<Attributes>(attr-dict) (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)? $region (`->` type($results)^)?
  }];
}

class LinalgExt_AttentionBase<string word> : LinalgExt_Op<word, [AttrSizedOperandSegments]> {
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                       OptionalAttr<AffineMapArrayAttr>:$indexing_maps);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$region);
  let assemblyFormat = [{
    custom<Attributes>(attr-dict) `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    custom<OptionalRegion>($region) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// Of the operand `number`; outs follow the inputs.
    ::mlir::AffineMap mapOf(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>((*getIndexingMaps())[number]).getValue();
    }
  }];
}

def LinalgExt_AttentionOp : LinalgExt_AttentionBase<"attention"> {
  let summary = "softmax(queries keys' scale, masked) values";
  let description = [{
    Operands: queries, keys, values, optionally a scale (a float; without one it is 1 / sqrt(depth)), and optionally a
    mask: of i1 one that is true where a key is seen, of floats one that is added. `indexing_maps` has a map for each of
    them and one for the result; its loops are those of the batch and the queries, the depth (of queries and keys
    alone), the keys (of keys and values alone; several are one set of keys), and the values' columns. The region changes
    a score, which has been multiplied by the scale, before the mask does; `iree_linalg_ext.index` in it is a loop's.
  }];
}

def LinalgExt_OnlineAttentionOp : LinalgExt_AttentionBase<"online_attention"> {
  let summary = "attention to some of the keys, which goes on from what others have come to";
  let description = [{
    As attention, with three outs and results, each with a map: sums of values by weights that are not yet divided, and for
    each query the largest score and the sum of the weights, which are exp(score - largest). What the outs hold is of the
    keys before: 0, -inf (or the lowest number) and 0 where there are none. Largest scores are of base 2, score / log(2),
    unless `decomposition_config = {use_exp2 = false}` says otherwise. A query that sees no key has weights of 0.
  }];
}

def LinalgExt_IndexOp : Op<LinalgExt_Dialect, "index", [Pure, ParentOneOf<["AttentionOp", "OnlineAttentionOp"]>]> {
  let summary = "which iteration of a loop of the attention around it this is: iree_linalg_ext.index 1 : index";
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<0>]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
}

class LinalgExt_AffineOp<string word, dag sign, string isUnsigned> : LinalgExt_Op<word> {
  let arguments = !con((ins AffineMapArrayAttr:$indexing_maps, OptionalAttr<I64Attr>:$quant_min, OptionalAttr<I64Attr>:$quant_max),
                       sign, (ins UnitAttr:$zp_unsigned, Variadic<AnyType>:$inputs, AnyRankedTensor:$output));
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<Attributes>(attr-dict) `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $output `:` type($output) `)`
    `->` type($result)
  }];
  let extraClassDeclaration = "/// Whether the integers are.\nbool getIsUnsigned() { return " # isUnsigned # "(); }";
}

def LinalgExt_QuantizeAffineOp : LinalgExt_AffineOp<"quantize_affine", (ins UnitAttr:$storage_unsigned), "getStorageUnsigned"> {
  let summary = "integers for floats: round(x / scale) + zero point, no less than quant_min, no more than quant_max";
  let description = [{
    Operands: floats, their scale, and optionally the zero point that stands for 0: scalars, or tensors by some of the
    loops. `indexing_maps` has a map for each of them and one for the result, whose loops are all there are. Halves are
    rounded to the even integer; NaN is quant_min. Where the result is unsigned, the op says `storage_unsigned`; where
    the zero point is, `zp_unsigned`.
  }];
}

def LinalgExt_DequantizeAffineOp : LinalgExt_AffineOp<"dequantize_affine", (ins UnitAttr:$input_unsigned), "getInputUnsigned"> {
  let summary = "floats of integers: (x - zero point) * scale";
  let description = [{
    Operands and maps are those of quantize_affine; `input_unsigned` and `zp_unsigned` say how the integers are read.
    `quant_min` and `quant_max` may be left out.
  }];
}

#endif
