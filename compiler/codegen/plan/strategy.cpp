// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/strategy.h"

using namespace mlir;

namespace tenon::compiler::codegen {

int64_t Writer::choice(StringRef name) const {
  return kernel.strategy.getAs<IntegerAttr>(name).getInt();
}

} // namespace tenon::compiler::codegen
