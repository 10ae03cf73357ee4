// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/strategy.h"

#include "compiler/codegen/kernel/bodies/small_tensors.h"

using namespace mlir;

namespace tenon::compiler::codegen {

int64_t Writer::choice(StringRef name) const {
  return kernel.strategy.getAs<IntegerAttr>(name).getInt();
}

int64_t Writer::choiceOr(StringRef name, int64_t otherwise) const {
  auto given = kernel.strategy.getAs<IntegerAttr>(name);
  return given ? given.getInt() : otherwise;
}

void writeBySize(const Strategy &strategy, Writer &writer, llvm::function_ref<void()> write) {
  Value areAllSmall;
  if (strategy.asksForSmall(writer.kernel, writer.shape))
    areAllSmall = areSmall(writer.k, writer.kernel, writer.shape, writer.arguments);
  if (!areAllSmall)
    return write();
  auto scoped = [&] {
    Bodies::Scope scope(writer.bodies);
    write();
  };
  writer.k.branch(areAllSmall, [&] { writer.space.inWords(scoped); }, scoped);
}

} // namespace tenon::compiler::codegen
