// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lane reads of few queries and their keys (few_queries_attention.h): straight from memory, eight adjacent
// elements at once, as registers of two that `mma.sync` takes.
#pragma once

#include "compiler/codegen/attention/few_queries_shape.h"

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
  /// Keys [8 keys][depth step][4], values [key of the lane][column step][4]. What they are computed from is on its way
  /// while `meanwhile` is computed.
  Values load(mlir::Value key, bool isFast, bool mayEnd, llvm::function_ref<void()> meanwhile = [] {});
  /// The low halves of two registers, or the high ones.
  mlir::Value pairOf(mlir::Value first, mlir::Value second, bool isHigh);

private:
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
