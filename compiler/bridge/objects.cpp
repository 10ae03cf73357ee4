// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/objects.h"

#include "compiler/dialect/hal/declarations.h"

using namespace mlir;

namespace tenon::compiler::bridge {

bool isGenerated(hal::ExecutableSourceOp source) {
  return source->hasAttr("tenon.generated");
}

hal::ExecutableObjectsAttr fallbackObjects(hal::ExecutableSourceOp source) {
  return source->getAttrOfType<hal::ExecutableObjectsAttr>(kFallbackObjectsAttr);
}

std::optional<std::string> inlineBytes(hal::ExecutableObjectAttr object) {
  auto data = dyn_cast_or_null<DenseElementsAttr>(object.getData());
  if (!data || !data.getElementType().isInteger(8))
    return std::nullopt;
  ArrayRef<char> raw = data.getRawData();
  if (data.isSplat())
    return std::string(size_t(data.getNumElements()), raw.front());
  return std::string(raw.begin(), raw.end());
}

} // namespace tenon::compiler::bridge
