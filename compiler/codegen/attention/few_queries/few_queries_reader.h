// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lane reads of few queries and their keys (few_queries_attention.h): straight from memory, eight adjacent
// elements at once, as registers of two that `mma.sync` takes. Keys and values that are computed (f8, int8 with scales)
// are loaded as they lie in memory, and computed when their turn has come: until then they stay in fewer registers, and
// nobody waits for them.
#pragma once

#include "compiler/codegen/attention/few_queries/few_queries_shape.h"
#include "compiler/codegen/attention/few_queries/scaled_integers.h"

namespace tenon::compiler::codegen {

class FewQueriesReader {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  /// @param group, lane of the warp's 32 lanes: eight groups of four
  FewQueriesReader(const ProductKernel &scores, const ProductKernel &output, const FewQueriesShape &shape,
                   const AttentionTile &tile, mlir::Value group, mlir::Value lane)
      : scores_(scores), output_(output), shape_(shape), k_(scores.k), tile_(tile), group_(group), lane_(lane),
        scaled_(ScaledIntegers::of(output.shape, output.product)) {}

  /// Elements that a lane reads at once: eight, or the sixteen of two steps where they take a byte each.
  uint32_t width(const ProductKernel &kernel) const;
  /// Of the depth, or of the columns: the first of eight elements that are the lane's in a step.
  mlir::Value offset(const ProductKernel &kernel, uint32_t step);
  /// [depth step][row of the group, and the eighth behind it, if there are such][4].
  Values queries(bool isFast);
  /// The same as fragments have them: each lane two adjacent elements of every eight.
  Values queryPairs(bool isFast);
  /// Values are integers whose scales weights are multiplied by.
  bool hasScales() const { return scaled_.has_value(); }
  /// That load() takes.
  uint32_t registers(bool isFast);
  /// What 16 keys and their values are computed from, as a loop carries it to the round that multiplies them.
  Values load(mlir::Value key, bool isFast, bool mayEnd);
  /// What a product takes of 16 keys: keys [8 keys][depth step][4], values [key of the lane][column step][4].
  struct Block {
    Values words;
    Values
        scales; // of the values of the group's key and the eighth behind: for who multiplies weights by them; or none
  };
  /// Of what was loaded.
  Block blockOf(mlir::ValueRange loaded, mlir::Value key, bool isFast, bool mayEnd);

private:
  /// Of a run of elements: of keys or of values.
  struct Place {
    const ProductKernel *kernel;
    mlir::Value across, reduced;
    bool mayEnd;
    uint32_t width;
  };
  llvm::SmallVector<Place> placesOf(mlir::Value key, bool isFast, bool mayEnd);
  /// Whether it is carried as it lies in memory; else as words.
  bool isRaw(const ProductKernel &kernel, bool isFast) const;
  uint32_t stepsOf(const ProductKernel &kernel) const;
  /// Whether tensor cores multiply integers whose scales they do not.
  bool isScaled(const ProductKernel &kernel, bool isFast) const {
    return &kernel == &output_ && scaled_ && isRaw(kernel, isFast);
  }
  Values loadScales(mlir::Value key);
  Values words(llvm::ArrayRef<mlir::Value> elements);
  Values vector(const ProductKernel &kernel, const Operand &operand, mlir::Value across, mlir::Value reduced,
                bool isFast, bool mayEnd, uint32_t width = FewQueriesShape::kVector);
  mlir::Value queryPair(mlir::Value row, mlir::Value depth, bool isFast);

  const ProductKernel &scores_, &output_;
  const FewQueriesShape &shape_;
  KernelBuilder &k_;
  const AttentionTile tile_;
  const mlir::Value group_, lane_;
  const std::optional<ScaledIntegers> scaled_; // the values
};

} // namespace tenon::compiler::codegen
