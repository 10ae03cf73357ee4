// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `parameters = [constant 0, binding 0, struct<24, alignment = 8>(binding 1 at 0, constant 1 at 8)]` of a layout.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/OpImplementation.h"

namespace tenon::compiler::hal {

/// What stands behind `parameters =`, brackets included. Whether it names what there is, each once, is checked with
/// the layout (abi::computeParameterLayout).
mlir::ParseResult parseParameters(mlir::AsmParser &parser, llvm::SmallVectorImpl<ParameterAttr> &parameters);
/// The same without the brackets.
void printParameters(mlir::AsmPrinter &printer, llvm::ArrayRef<ParameterAttr> parameters);

} // namespace tenon::compiler::hal
