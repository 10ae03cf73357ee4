// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the hal dialect registers. Its attributes and types are in HalAttrs.cpp, its operations in HalOps.cpp.
#include "compiler/dialect/hal/HalDialect.h"

#include "compiler/dialect/shared/inliner.h"

#include "compiler/dialect/hal/HalDialect.cpp.inc"

namespace tenon::compiler::hal {

void HalDialect::initialize() {
  registerAttributesAndTypes();
  registerOperations();
  addInterfaces<AlwaysInline>();
}

} // namespace tenon::compiler::hal
