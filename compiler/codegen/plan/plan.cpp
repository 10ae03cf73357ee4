// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/plan.h"

using namespace mlir;

namespace tenon::compiler::codegen {

bool Guard::holdsFor(int64_t length) const {
  if (length == 0)
    return orEmpty;
  const bool isInGap = llvm::any_of(gaps, [&](const Range &gap) { return length > gap.first && length <= gap.second; });
  return length > above && (!most || length <= *most) && !isInGap && length % multipleOf == 0 &&
         (!noMultipleOf || length % *noMultipleOf != 0);
}

DictionaryAttr Plan::attribute(MLIRContext *context) const {
  Builder b(context);
  SmallVector<NamedAttribute> entries = {b.getNamedAttr("name", b.getStringAttr(strategy)),
                                         b.getNamedAttr("threads", b.getI64IntegerAttr(threads))};
  for (auto [name, value] : choices)
    entries.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  return b.getDictionaryAttr(entries);
}

int64_t Plan::choice(StringRef name) const {
  for (auto [each, value] : choices)
    if (each == name)
      return value;
  return 0;
}

void Plan::choose(StringRef name, int64_t value) {
  for (auto &[each, chosen] : choices)
    if (each == name) {
      chosen = value;
      return;
    }
  choices.emplace_back(name, value);
}

SmallVector<Extent> extentsOf(ArrayRef<SpaceAxis> axes) {
  SmallVector<Extent> extents;
  for (const SpaceAxis &axis : axes)
    llvm::append_range(extents, axis.extents);
  return extents;
}

} // namespace tenon::compiler::codegen
