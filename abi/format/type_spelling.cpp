// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/type_spelling.h"

#include "abi/element_type.h"
#include "support/status.h"

namespace tenon::abi {

std::string typeSpelling(const fb::ValueType &type) {
  std::string_view element = spelling(static_cast<ElementType>(type.element()));
  if (type.kind() == fb::ValueKind::Unread)
    return "any";
  if (type.kind() == fb::ValueKind::Scalar)
    return std::string(element);
  std::string out = "tensor<";
  if (type.shape())
    for (int64_t extent : *type.shape())
      out += extent < 0 ? "?x" : concat(extent, 'x');
  return concat(out, element, '>');
}

} // namespace tenon::abi
