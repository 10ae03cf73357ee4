// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attention of a kernel (dispatch/attention/build.h) as its writers see it: two products that share the rows, the
// queries, of a batch; the columns of the first, the keys, are what the second sums over.
//
//                    keys                        values' columns
//                  +---------+                  +---------+
//          depth   |  keys'  |           keys   | values' |
//                  +---------+                  +---------+
//        +-------+ +---------+        +-------+ +---------+
//  rows  |queries| | scores  | softmax|weights| | result  |
//        +-------+ +---------+        +-------+ +---------+
//
// A block computes rows of the result, some or all of its columns, and goes through the keys block by block; no score
// is ever stored.
//
// A chain (dispatch/attention/chain.h) is the same without softmax: what is computed from the scores of one or two
// products are the weights. Of twins (dispatch/attention/chains/twins.h) there are two weights and two results, of
// triplets (dispatch/attention/triplets.h) one result more, for each of the keys: what blocks add up between them.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

struct Attention {
  Product scores, output;        // left: queries, weights; right: keys, values
  const KernelOp *logits;        // that computes what softmax reads; of the scores themselves where nothing does
  mlir::Value weights;           // what softmax returns
  bool isChain;                  // there is no softmax: `logits` computes the weights
  std::optional<Product> second; // of a chain: other scores that it computes them from, of the same rows and keys
  bool hiddenIsZero;             // a query all of whose keys are hidden by -inf is 0, not 0 / 0
  const KernelOp *logSum;        // the logarithm of the sum of each query's exponentials; null: nobody wants it
  unsigned weightsResult = 0;    // of `logits`, of a chain
  std::optional<Product> twin = std::nullopt;   // of twins: the last product of the other weights, from `scores` alone
  std::optional<Product> across = std::nullopt; // of triplets: of `weights`, summed over the rows (triplets.h)
  const KernelOp *kept =
      nullptr;            // rounds `weights`, which the kernel stores for another product; null: nobody wants it
  bool tilesWrap = false; // a tile may have rows of several heads, and sees what any row of a head does
  bool isPart = false;    // of twins that are computed one behind the other: parts have the same shared memory

  /// Nothing where the kernel holds no attention.
  static std::optional<Attention> of(const KernelFunction &kernel, const GroupShape &shape);
  /// f16 or bf16, where all products may run on tensor cores; else null.
  mlir::Type tensorCoreElement() const;
  /// The axis of the keys, by which logits are hidden.
  unsigned keys() const { return output.reduced.back(); }
  /// Of twins whose keys are those of several heads: which head a key is of. Keys are numbered head by head.
  std::optional<unsigned> heads() const {
    return output.reduced.size() > 1 ? std::optional(output.reduced.front()) : std::nullopt;
  }
  /// The products that scores come from.
  llvm::SmallVector<const Product *, 2> inner() const;
  /// Each of twins for itself, that of two products first; of others the attention.
  llvm::SmallVector<Attention, 2> parts() const;
};

/// What those who write an attention's kernel share.
struct AttentionKernel {
  const KernelFunction &kernel;
  const GroupShape &shape;
  const Attention &attention;
  KernelBuilder &k;
  GroupSpace &space;
  Bodies &bodies;
  uint32_t rows, columns; // of a block

  /// The same kernel of another attention, which has to outlive it.
  AttentionKernel with(const Attention &other) const { return {kernel, shape, other, k, space, bodies, rows, columns}; }

  /// One of the two products, as those who multiply see it.
  ProductKernel product(const Product &product, uint32_t rows, uint32_t columns, uint32_t depth) const {
    return {.kernel = kernel,
            .shape = shape,
            .product = product,
            .k = k,
            .space = space,
            .bodies = bodies,
            .rows = rows,
            .columns = columns,
            .depth = depth,
            .tensorMaps = {}};
  }
};

/// Where a block's rows and columns are. Blocks of one element of the batch follow each other, those that see most keys
/// first where a mask hides some: the last rows.
struct AttentionTile {
  mlir::Value inBatch, firstRow, firstColumn;
  mlir::Value part = {}; // of its keys, where several blocks share them
};
/// @param isFromFirst the first rows are those
AttentionTile tileOf(const AttentionKernel &kernel, mlir::Value number, bool isFromFirst = false);

/// Logits of a thread: adjacent keys of one row.
struct LogitRun {
  mlir::Value row, key;
  llvm::SmallVector<mlir::Value> scores;
  llvm::SmallVector<mlir::Value> seconds = {}; // of a chain of two
};

/// What the group computes from scores; keys that are not there are -inf where `mayEnd`, or have the weight 0: or
/// anything, where nobody hides them.
void computeLogits(const AttentionKernel &kernel, TileSpace &space, llvm::MutableArrayRef<LogitRun> runs, bool mayEnd,
                   bool hides = true);

/// Stores weights, element by element, where they are kept. Rows and keys that are not there have none.
void storeWeights(const AttentionKernel &kernel, TileSpace &space, llvm::ArrayRef<LogitRun> runs);

/// Stores the logarithm of the sum of a row's exponentials, if somebody wants it: `sum` of them were relative to
/// `reference`. One thread of those that share the row; rows behind the last are none.
/// @param result of the last product
void storeLogSum(const AttentionKernel &kernel, TileSpace &result, mlir::Value row, mlir::Value reference,
                 mlir::Value sum);

} // namespace tenon::compiler::codegen
