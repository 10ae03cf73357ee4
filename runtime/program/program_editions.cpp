// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which edition of a program's functions is for the device: the last one for whose targets the device runs code, and
// whose kernels it has images for. What an old driver refuses is found out before the first call, by loading one.
#include "runtime/device/device.h"
#include "runtime/program/program.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace tenon::runtime {

/// Whether the device has images for all that the view's edition launches. @param known what other editions launch, too
bool Program::runsEdition(const abi::ProgramView::LaunchedExports &known) {
  const abi::ProgramView::LaunchedExports launched = view_.launchedExports();
  for (const auto &[executable, ordinal] : launched)
    if (!executables_[executable]->hasImage(ordinal))
      return false;
  for (const auto &[executable, ordinal] : launched)
    if (!known.contains({executable, ordinal})) {
      const Status status = executables_[executable]->load(ordinal).takeStatus();
      return status.code() != StatusCode::FailedPrecondition; // memory that is short now is no reason
    }
  return true;
}

void Program::chooseEdition(std::string_view variant) {
  if (view_.editionCount() == 0)
    return;
  const abi::ProgramView::LaunchedExports own = view_.launchedExports();
  // By how many launches have the variant named, most first; of as many, the program's own functions last.
  std::map<size_t, std::vector<std::optional<uint32_t>>, std::greater<>> possible;
  for (uint32_t i = uint32_t(view_.editionCount()) + 1; i-- > 0;) {
    view_.setEdition(i == 0 ? std::nullopt : std::optional(i - 1)); // nothing: the program's own functions
    if (i != 0 && !view_.isEditionFor(i - 1, device_->traits()))
      continue;
    const abi::ProgramView::LaunchedExports launched = view_.launchedExports();
    const auto having = std::count_if(launched.begin(), launched.end(), [&](const auto &each) {
      return !variant.empty() && hasVariant(view_.executableAt(each.first), variant);
    });
    possible[size_t(having)].push_back(view_.edition());
  }
  for (const auto &[having, indices] : possible)
    for (const std::optional<uint32_t> &index : indices) {
      view_.setEdition(index);
      if (runsEdition(own))
        return;
    }
  view_.setEdition(possible.begin()->second.front()); // who calls a function hears why it does not run
}

std::string Program::explain() {
  const std::set<uint32_t> others = view_.executablesOfOthers();
  std::string out;
  if (view_.editionCount() != 0)
    out = concat("edition for ", view_.edition() ? view_.editionTargets() : std::string("other devices"), ", one of ",
                 view_.editionCount() + 1, "\n");
  for (uint32_t i = 0; i < executables_.size(); ++i)
    if (!others.contains(i))
      out += executables_[i]->explain();
  if (executables_.empty())
    out = "the program has no executables\n";
  return out;
}

} // namespace tenon::runtime
