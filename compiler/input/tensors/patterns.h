// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites of tenon-lower-tensors (Passes.td), one function to a file; those of iree_linalg_ext are in linalg_ext/.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::linalg_ext {
class ScatterOp;
} // namespace tenon::compiler::linalg_ext

namespace tenon::compiler::input {

/// tensor.extract_slice, insert_slice.
void addSlicePatterns(mlir::RewritePatternSet &patterns);
/// tensor.insert_slice into what may be written over.
void addSliceOverPatterns(mlir::RewritePatternSet &patterns);
/// Where it is not known that sizes agree and places are inside of their tensors, a cf.assert in front of the
/// operation.
void checkPlaces(mlir::func::FuncOp function);
/// tensor.concat of both parts of a tensor, the second first. Before the slices are something else.
void addRollPatterns(mlir::RewritePatternSet &patterns);
/// tensor.pad, concat.
void addPadPatterns(mlir::RewritePatternSet &patterns);
/// tensor.extract of a tensor.pad, where it cannot meet the padding; a reshape of one that leaves padded dimensions as
/// they are, which goes in front of it. Before the pad is something else.
void addPaddedReadPatterns(mlir::RewritePatternSet &patterns);
/// tensor.gather, scatter.
void addGatherPatterns(mlir::RewritePatternSet &patterns);
/// tensor.generate, from_elements, insert.
void addElementPatterns(mlir::RewritePatternSet &patterns);
/// tensor.reshape, bitcast; dimensions of one that slices leave.
void addReshapePatterns(mlir::RewritePatternSet &patterns);
/// linalg.pack, unpack.
void addPackPatterns(mlir::RewritePatternSet &patterns);
/// iree_linalg_ext.gather, arg_compare, fft, topk_v2, reverse, softmax, custom_op.
void addAlongPatterns(mlir::RewritePatternSet &patterns);
/// Whether a third in, a mask of i1, says which updates of a scatter there are.
bool isMasked(linalg_ext::ScatterOp scatter);
/// iree_linalg_ext.map_load and map_store.
void addMapPatterns(mlir::RewritePatternSet &patterns);
/// scf.if, index_switch, execute_region, for and while in bodies.
void addBranchPatterns(mlir::RewritePatternSet &patterns);
/// Whether the operation is in the body of one of linalg or iree_linalg_ext.
bool isInsideOfBody(mlir::Operation *op);
/// linalg.softmax.
void addAggregatePatterns(mlir::RewritePatternSet &patterns);
/// iree_linalg_ext.attention and online_attention.
void addAttentionPatterns(mlir::RewritePatternSet &patterns);
/// iree_linalg_ext.quantize_affine, dequantize_affine.
void addQuantizationPatterns(mlir::RewritePatternSet &patterns);
/// linalg.winograd_filter_transform, winograd_input_transform, winograd_output_transform.
void addWinogradPatterns(mlir::RewritePatternSet &patterns);
/// iree_linalg_ext.winograd.input_transform, filter_transform, output_transform.
void addWinogradExtPatterns(mlir::RewritePatternSet &patterns);
/// Tensors whose elements are all one number that is known are filled with it, and reads of them are that number.
void foldKnownElements(mlir::func::FuncOp function);
/// Whether a size is negative is answered, and what depends on the answer chosen; a size that is cast there and back is
/// itself.
void simplifySizes(mlir::func::FuncOp function);
/// What bodies of linalg.generic read at affine places becomes operands with indexing maps.
void addAffineReadPatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::input
