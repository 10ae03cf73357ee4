// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/strategy.h"

using namespace mlir;

namespace tenon::compiler::codegen {

int64_t Writer::choice(StringRef name) const {
  return kernel.strategy.getAs<IntegerAttr>(name).getInt();
}

int64_t Writer::choiceOr(StringRef name, int64_t otherwise) const {
  auto given = kernel.strategy.getAs<IntegerAttr>(name);
  return given ? given.getInt() : otherwise;
}

} // namespace tenon::compiler::codegen
