// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a warp of few queries (few_queries_attention.h) multiplies at once: 16 keys, or 32 from shared memory, and their
// values. Scores become weights relative to the largest logit so far, and what was summed before is scaled to that.
//
//   carried   what softmax has of each row | sums [column step][two columns][eight rows][4], of which a lane has its
//   own
#pragma once

#include "compiler/codegen/attention/few_queries/few_queries_reader.h"
#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/attention/partial_sum.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class KeyBlock {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  KeyBlock(const AttentionKernel &kernel, const FewQueriesShape &shape);

  /// Whose keys and rows they are. @param warpRow the first of the warp's in the block, where warps have different ones
  /// @param group, lane of the warp's 32 lanes: eight groups of four
  void place(const AttentionTile &tile, mlir::Value warpRow, mlir::Value group, mlir::Value lane);

  /// Of no keys, as it is carried.
  Values start();
  llvm::SmallVector<mlir::Type> carriedTypes();

  /// Left factors (which 16 keys, which 16 elements of the depth or columns), of the keys and of the values.
  struct Factors {
    llvm::function_ref<Values(uint32_t, uint32_t)> keys, values;
    llvm::ArrayRef<mlir::Value> scales; // of the values, if weights are multiplied by them
  };
  /// What is carried, behind the keys from `key` on.
  Values add(const KeyRange &range, llvm::ArrayRef<mlir::Value> queries, mlir::Value key, const Factors &read,
             mlir::ValueRange carried);
  /// The same of what a lane has read itself.
  Values add(const KeyRange &range, llvm::ArrayRef<mlir::Value> queries, mlir::Value key,
             const FewQueriesReader::Block &read, mlir::ValueRange carried);

  /// Of the block's rows, the one that the lane's sums are of.
  mlir::Value rowOf(uint32_t eight, uint32_t of);
  /// Of each of the lane's rows, which other lanes have other columns of.
  llvm::SmallVector<PartialSum> sumsOf(llvm::ArrayRef<mlir::Value> carried);

private:
  uint32_t states() const { return 4 * eights_; }                       // of softmax
  uint32_t sums() const { return shape_.wholeColumns() / 4 * eights_; } // of a lane
  uint32_t keyWords() const { return 2 * shape_.depthSteps() * 4; }
  Values scoresOf(llvm::ArrayRef<Values> left, llvm::ArrayRef<mlir::Value> queries, uint32_t eight);

  const AttentionKernel &kernel_;
  const FewQueriesShape &shape_;
  const uint32_t eights_; // of rows
  KernelBuilder &k_;
  TensorCore core_;
  const ProductKernel scores_, output_;
  OnlineSoftmax softmax_;
  AttentionTile tile_;
  mlir::Value warpRow_, group_, lane_;
};

} // namespace tenon::compiler::codegen
