// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/launder.h"

#include <array>

namespace tenon::proof {

static constexpr std::array<std::string_view, kClasses> kClassTexts = {"arithmetic", "memory",  "parameters", "calls",
                                                                       "predicates", "control", "lanes",      "atomics",
                                                                       "copies",     "maps",    "benign"};

std::string_view classText(Class value) {
  return kClassTexts[static_cast<size_t>(value)];
}

uint32_t classMask(std::string_view name) {
  if (name == "all")
    return (1u << kClasses) - 1;
  for (uint32_t i = 0; i < kClasses; ++i)
    if (kClassTexts[i] == name)
      return 1u << i;
  return 0;
}

Ways::Ways(uint32_t classes) {
  for (std::span<const ValueWay> ways : {arithmeticWays(), halfWays(), memoryWays(), callWays()})
    for (const ValueWay &way : ways)
      if (classes & maskOf(way.kind))
        values_.push_back(&way);
  for (std::span<const Channel> channels :
       {plainChannels(), controlChannels(), laneChannels(), memoryChannels(), callChannels()})
    for (const Channel &channel : channels)
      if (classes & maskOf(channel.kind))
        channels_.push_back(&channel);
}

std::string launder(Body &b, const Ways &ways, std::string value, uint32_t &used, std::string &names) {
  if (ways.hasChannels() && (!ways.hasValues() || b.random.chance(35))) {
    const uint32_t first = b.random.chance(60) ? 0 : 1 + b.random.below(14);
    return launderFields(b, ways, value, first, used, names);
  }
  for (uint32_t left = ways.isOne() ? 1 : 1 + b.random.below(3); left != 0; --left) {
    const ValueWay &way = ways.value(b.random);
    used |= maskOf(way.kind);
    names += concat(names.empty() ? "" : " ", way.name);
    value = way.go(b, value);
    b.parameter.clear(); // it is another value from here on, whoever made it
  }
  return value;
}

} // namespace tenon::proof
