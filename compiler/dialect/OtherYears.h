// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some operations kept their name and changed their text: `tosa.reduce_sum %x axis(0)` of 2026, `"tosa.mul"(%x, %y)
// {shift = 0 : i8}` of 2023, tensor.expand_shape without `output_shape`. MLIR has one parser for a name, so what it
// would refuse is found in the text first, and the name of such an operation there begins with a capital:
// `tosa.Reduce_sum`. Operations of those names have parsers of their own. The text stays as long as it was, so that
// each place in it is the place in the file; what MLIR reads is never changed.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tenon::compiler {

/// The text with its marks; nothing: there is none to make.
std::optional<std::string> markOtherYears(llvm::StringRef text);

/// A message about a marked operation, with the name that the file has.
std::string unmarkOtherYears(llvm::StringRef message);

/// tosa.*, tensor.Expand_shape: held as they were parsed until tenon-read-input makes them what they are today.
/// linalg.Elementwise, tosa.Const_shape: parsed as what they are today.
void registerOtherYears(mlir::DialectRegistry &registry);

} // namespace tenon::compiler
