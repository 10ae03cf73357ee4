// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the size of a tensor's dimension comes from, through operations whose results are as long as something else:
// two that compare equal are equal. Nothing is created for the answer, so that patterns may ask.
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace tenon::compiler {

struct SizeOrigin {
  std::optional<int64_t> constant;
  mlir::Value value;      // an index, or the tensor that is asked for
  int64_t dimension = -1; // of that; -1: of no tensor

  explicit operator bool() const { return constant || value; }
  bool operator==(const SizeOrigin &other) const {
    return constant == other.constant && value == other.value && dimension == other.dimension;
  }
};

SizeOrigin sizeOriginOf(mlir::Value tensor, int64_t dimension);
/// Of an index.
SizeOrigin sizeOriginOf(mlir::Value index);

} // namespace tenon::compiler
