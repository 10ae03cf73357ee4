// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/machine/check_options.h"

namespace tenon::emulator {
namespace {

struct CheckName {
  std::string_view name;
  bool CheckOptions::*option;
};
constexpr CheckName kChecks[] = {
    {"memory", &CheckOptions::memory},   {"readonly", &CheckOptions::readonly},
    {"races", &CheckOptions::races},     {"uninitialised", &CheckOptions::uninitialised},
    {"results", &CheckOptions::results}, {"barriers", &CheckOptions::barriers},
    {"async", &CheckOptions::async},     {"leaks", &CheckOptions::leaks},
};

} // namespace

std::string parseCheckOptions(std::string_view text, CheckOptions &options) {
  for (bool more = !text.empty(); more;) {
    size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(more ? comma + 1 : text.size());
    bool known = false;
    for (const CheckName &check : kChecks)
      if (name == "all" || name == check.name)
        options.*check.option = known = true;
    if (known)
      continue;
    std::string wrong = "'" + std::string(name) + "' is not a check; wanted a list of";
    for (const CheckName &check : kChecks)
      wrong += " '" + std::string(check.name) + "',";
    return wrong + " or 'all'";
  }
  return {};
}

} // namespace tenon::emulator
