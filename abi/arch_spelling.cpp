// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/arch_spelling.h"

#include "abi/arch_table.h"
#include "abi/target_arch.h"
#include "support/status.h"
#include "support/text/nearest_names.h"

#include <cctype>
#include <vector>

namespace tenon::abi {
namespace {

std::vector<std::string> knownNames() {
  std::vector<std::string> names;
  const std::string list = knownArchList();
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(", ", at), list.size());
    names.push_back(list.substr(at, end - at));
    at = end + 2;
  }
  return names;
}

/// "sm_90a" for "90a", "SM90a", "compute_90a" and "9.0a".
std::string withOurPrefix(std::string_view text) {
  std::string number;
  for (char c : text)
    if (std::isdigit(static_cast<unsigned char>(c)) || (!number.empty() && c != '.' && c != '_'))
      number += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "sm_" + number;
}

} // namespace

std::string archAdvice(std::string_view text) {
  const std::vector<std::string> known = knownNames();
  std::vector<std::string> meant;
  const std::string spelled = withOurPrefix(text);
  if (const std::optional<TargetArch> arch = parseTargetArch(spelled); arch && findArch(*arch))
    meant.push_back(spelled);
  else
    meant = nearestNames(text, known);
  return concat(meant.empty() ? "known: " : concat("did you mean ", quotedList(meant, "or"), "? Known: "),
                knownArchList());
}

} // namespace tenon::abi
