// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lane reads of few queries and their keys (few_queries_attention.h): straight from memory, eight adjacent
// elements at once, as registers of two that `mma.sync` takes. Keys and values that are computed (f8, int8 with scales)
// are loaded as they lie in memory, and computed when their turn has come: until then they stay in fewer registers, and
// nobody waits for them.
#pragma once

#include "compiler/codegen/attention/few_queries_shape.h"
#include "compiler/codegen/contraction/run_inputs.h"

namespace tenon::compiler::codegen {

class FewQueriesReader {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  /// @param group, lane of the warp's 32 lanes: eight groups of four
  FewQueriesReader(const ProductKernel &scores, const ProductKernel &output, const FewQueriesShape &shape,
                   const AttentionTile &tile, mlir::Value group, mlir::Value lane)
      : scores_(scores), output_(output), shape_(shape), k_(scores.k), tile_(tile), group_(group), lane_(lane) {}

  /// The lane's row, in all of the product: of the upper half of 16, or of the lower.
  mlir::Value rowOf(uint32_t half);
  /// [depth step][row of the group, and the eighth behind it, if there are such][4].
  Values queries(bool isFast);
  /// What 16 keys and their values are computed from, as a loop carries it to the round that multiplies them.
  Values load(mlir::Value key, bool isFast, bool mayEnd);
  /// Of what was loaded: keys [8 keys][depth step][4], values [key of the lane][column step][4].
  Values wordsOf(mlir::ValueRange loaded, mlir::Value key, bool isFast, bool mayEnd);
  /// The low halves of two registers, or the high ones.
  mlir::Value pairOf(mlir::Value first, mlir::Value second, bool isHigh);

private:
  /// Of a run of eight elements: of keys or of values.
  struct Place {
    const ProductKernel *kernel;
    mlir::Value across, reduced;
    bool mayEnd;
  };
  llvm::SmallVector<Place> placesOf(mlir::Value key, bool mayEnd);
  /// Whether it is carried as it lies in memory; else as words.
  bool isRaw(const ProductKernel &kernel, bool isFast) const;
  Values words(llvm::ArrayRef<mlir::Value> elements);
  Values vector(const ProductKernel &kernel, const Operand &operand, mlir::Value across, mlir::Value reduced,
                bool isFast, bool mayEnd);

  const ProductKernel &scores_, &output_;
  const FewQueriesShape &shape_;
  KernelBuilder &k_;
  const AttentionTile tile_;
  const mlir::Value group_, lane_;
};

} // namespace tenon::compiler::codegen
