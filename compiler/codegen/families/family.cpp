// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/family.h"

#include "compiler/codegen/ptx/rewrites/named_numbers.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace tenon::compiler::codegen {

Family::Family(Structure first) : first_(std::move(first)) {
  add(first_);
}

std::optional<size_t> Family::add(const Structure &kernels) {
  if (&kernels != &first_ && !first_.isLike(kernels))
    return std::nullopt;
  auto [member, isNew] = known_.try_emplace(kernels.numbers(), members_.size());
  if (isNew)
    members_.push_back(member->first);
  return member->second;
}

void Family::nameNumbers() {
  Numbers most = members_.front();
  for (const Numbers &member : members_)
    std::transform(member.begin(), member.end(), most.begin(), most.begin(),
                   [](int64_t x, int64_t y) { return int64_t(std::max(uint64_t(x), uint64_t(y))); });
  first_.narrowDivisions(most);
  // Numbers that are the same as each other in every member are one.
  std::map<std::pair<const void *, Numbers>, std::string> names; // by type, and what they are
  for (size_t number = 0; number < members_.front().size(); ++number) {
    Numbers are;
    for (const Numbers &member : members_)
      are.push_back(member[number]);
    if (llvm::all_equal(are))
      continue;
    const Type type = first_.typeOf(number);
    auto [name, isNew] = names.try_emplace({type.getAsOpaquePointer(), are});
    if (isNew) {
      const auto [least, most] = std::minmax_element(are.begin(), are.end());
      name->second = isa<FloatType>(type) ? nameOfFloat(named_.size()) : nameOfNumber(named_.size(), *least, *most);
      named_.push_back(number);
    }
    first_.name(number, name->second);
  }
}

std::vector<std::string> Family::numbersOf(size_t member) const {
  std::vector<std::string> numbers;
  for (size_t number : named_)
    numbers.push_back(std::to_string(members_[member][number]));
  return numbers;
}

} // namespace tenon::compiler::codegen
