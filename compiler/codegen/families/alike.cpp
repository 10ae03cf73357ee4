// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/alike.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using llvm::StringRef;

namespace tenon::compiler::codegen {

std::string withoutSizes(StringRef text) {
  constexpr llvm::StringLiteral kConstant = "arith.constant ";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (text.consume_front(kConstant)) {
      result += kConstant;
      text = text.drop_front(std::min(text.find_first_of(" \n"), text.size()));
    }
    // A size is digits and an x, in a tensor's type or the box of a tensor map; a choice stands behind its name.
    const bool isPart = !result.empty() && (llvm::isAlnum(result.back()) || result.back() == '%') &&
                        !StringRef(result).ends_with("?x"); // behind a size that is not known
    while (!isPart && !text.empty() && llvm::isDigit(text.front())) {
      const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
      const bool isSize = text.drop_front(digits).starts_with("x");
      const bool isChoice = StringRef(result).ends_with(" = ") && text.drop_front(digits).starts_with(" : i64");
      result += isSize ? StringRef("#x") : isChoice ? StringRef("#") : text.take_front(digits);
      text = text.drop_front(isSize ? digits + 1 : digits);
      if (!isSize)
        break;
    }
    const size_t next = std::min({text.find_first_of("0123456789", 1), text.find(kConstant, 1), text.size()});
    result += text.take_front(next);
    text = text.drop_front(next);
  }
  return result;
}

std::vector<std::vector<size_t>> groupsOfAlike(llvm::ArrayRef<StringRef> texts) {
  llvm::StringMap<size_t> known; // number of the group
  std::vector<std::vector<size_t>> groups;
  for (auto [number, text] : llvm::enumerate(texts)) {
    if (text.empty())
      continue;
    auto [group, isNew] = known.try_emplace(withoutSizes(text), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[group->second].push_back(number);
  }
  std::erase_if(groups, [](const std::vector<size_t> &group) { return group.size() < kLeastAlike; });
  return groups;
}

} // namespace tenon::compiler::codegen
