// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/writer/ptx_parts.h"

#include <algorithm>
#include <map>
#include <set>

namespace tenon::linker {
namespace {

// A driver takes some milliseconds for a module of whatever size, as long as for so much text: smaller kernels are
// loaded together.
constexpr uint32_t kLeastBytes = 16384;

bool hasOwnMemory(const ptx::Variable &variable) {
  return variable.space == ptx::StateSpace::Global || variable.space == ptx::StateSpace::Const;
}

/// Names of other modules, and debug sections, which give offsets into the whole text, are not taken apart.
bool isDivisible(const Object &object) {
  return object.input->origin == abi::Origin::Generated && !object.isMetadataOnly && object.module.aliases.empty() &&
         object.text().find(".section") == std::string_view::npos;
}

/// Kernels that have to be in one module, in the order of the first of each.
std::vector<std::vector<const Kernel *>> boundTogether(const std::vector<const Kernel *> &kernels) {
  std::vector<std::vector<const Kernel *>> groups;
  std::map<const ptx::Variable *, size_t> groupOf; // lookup only
  for (const Kernel *kernel : kernels) {
    size_t mine = groups.size();
    groups.push_back({kernel});
    for (const ptx::Variable *variable : kernel->reachable.variables) {
      if (!hasOwnMemory(*variable))
        continue;
      auto [found, isNew] = groupOf.try_emplace(variable, mine);
      const size_t other = found->second;
      if (isNew || other == mine)
        continue;
      const size_t to = std::min(mine, other), from = std::max(mine, other);
      groups[to].insert(groups[to].end(), groups[from].begin(), groups[from].end());
      groups[from].clear();
      for (auto &[each, group] : groupOf)
        if (group == from)
          group = to;
      mine = to;
    }
  }
  std::erase_if(groups, [](const std::vector<const Kernel *> &group) { return group.empty(); });
  return groups;
}

/// `text` without what no kernel of the part reaches.
std::string textOf(const Object &object, const std::vector<const Kernel *> &kernels) {
  std::set<const void *> reached; // membership only
  for (const Kernel *kernel : kernels) {
    reached.insert(kernel->reachable.functions.begin(), kernel->reachable.functions.end());
    reached.insert(kernel->reachable.variables.begin(), kernel->reachable.variables.end());
  }
  std::map<uint32_t, uint32_t> left; // begin -> end, of what is not
  for (const ptx::Function &function : object.module.functions)
    if (!function.isDeclaration && !reached.contains(&function))
      left[function.range.begin] = function.range.end;
  for (const ptx::Variable &variable : object.module.variables)
    if (hasOwnMemory(variable) && !variable.isExtern)
      left[variable.range.begin] = variable.range.end;
  for (const ptx::Variable &variable : object.module.variables)
    if (reached.contains(&variable)) // one declaration may name several
      left.erase(variable.range.begin);

  const std::string_view text = object.text();
  std::string out;
  size_t copied = 0;
  for (const auto &[begin, end] : left) {
    out.append(text, copied, begin - copied);
    copied = text.substr(end).starts_with('\n') ? end + 1 : end;
  }
  return out.append(text, copied);
}

} // namespace

std::vector<PtxPart> dividePtx(const Object &object, const std::vector<const Kernel *> &kernels) {
  std::vector<PtxPart> parts;
  if (kernels.size() < 2 || !isDivisible(object)) {
    parts.push_back({.kernels = kernels, .text = {}});
    return parts;
  }
  uint64_t bytes = kLeastBytes; // of the last part
  for (const std::vector<const Kernel *> &group : boundTogether(kernels)) {
    if (bytes >= kLeastBytes) {
      parts.emplace_back();
      bytes = 0;
    }
    for (const Kernel *kernel : group) {
      parts.back().kernels.push_back(kernel);
      for (const ptx::Function *function : kernel->reachable.functions)
        bytes += function->range.end - function->range.begin;
    }
  }
  if (parts.size() > 1)
    for (PtxPart &part : parts) {
      std::ranges::sort(part.kernels, {}, &Kernel::exportOrdinal);
      part.text = textOf(object, part.kernels);
    }
  return parts;
}

} // namespace tenon::linker
