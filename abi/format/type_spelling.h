// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How messages name the type of a program's value.
#pragma once

#include "abi/format/program_generated.h"

#include <string>

namespace tenon::abi {

/// "tensor<?x4xf32>" / "i32", as MLIR writes it.
std::string typeSpelling(const fb::ValueType &type);

} // namespace tenon::abi
