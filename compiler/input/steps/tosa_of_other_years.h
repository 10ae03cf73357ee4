// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TOSA as it was written in 2022 to 2024: attributes of then are operands today, such as shapes, zero points, shifts
// and multipliers.
#pragma once

#include "mlir/IR/Operation.h"

namespace tenon::compiler::input {

/// Replaces an operation that the parser marked (dialect/OtherYears.h) by today's; an error names what it lacks.
mlir::LogicalResult readTosaOfOtherYears(mlir::Operation *op);

} // namespace tenon::compiler::input
