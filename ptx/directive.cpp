// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of directives. A new directive is one enumerator, one row here and its case in the parser.
#include "ptx/directive.h"

#include "ptx/words/word_table.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tenon::ptx {
namespace {

struct Row {
  std::string_view word;
  Directive directive;
};

constexpr Row kRows[] = {
    {"loc", Directive::Loc},
    {"param", Directive::Param},
    {"reg", Directive::Reg},
    {"pragma", Directive::Pragma},
    {"shared", Directive::Shared},
    {"local", Directive::Local},
    {"global", Directive::Global},
    {"const", Directive::Const},
    {"align", Directive::Align},
    {"ptr", Directive::Ptr},
    {"visible", Directive::Visible},
    {"entry", Directive::Entry},
    {"func", Directive::Func},
    {"extern", Directive::Extern},
    {"weak", Directive::Weak},
    {"common", Directive::Common},
    {"branchtargets", Directive::BranchTargets},
    {"calltargets", Directive::CallTargets},
    {"callprototype", Directive::CallPrototype},
    {"file", Directive::File},
    {"section", Directive::Section},
    {"version", Directive::Version},
    {"target", Directive::Target},
    {"address_size", Directive::AddressSize},
    {"alias", Directive::Alias},
    {"tex", Directive::Tex},
    {"sreg", Directive::Sreg},
    {"attribute", Directive::Attribute},
    {"maxntid", Directive::MaxThreads},
    {"reqntid", Directive::RequiredThreads},
    {"minnctapersm", Directive::MinBlocksPerSm},
    {"maxnctapersm", Directive::MaxBlocksPerSm},
    {"maxnreg", Directive::MaxRegisters},
    {"noreturn", Directive::NoReturn},
    {"abi_preserve", Directive::AbiPreserve},
    {"abi_preserve_control", Directive::AbiPreserveControl},
    {"explicitcluster", Directive::ExplicitCluster},
    {"reqnctapercluster", Directive::RequiredCluster},
    {"maxclusterrank", Directive::MaxClusterRank},
    {"blocksareclusters", Directive::BlocksAreClusters},
};

constexpr WordTable<256> kTable(kRows);

constexpr size_t kLongestWord = 24;

/// Edit distance of two words of at most kLongestWord letters.
size_t editDistance(std::string_view a, std::string_view b) {
  std::array<size_t, kLongestWord + 1> row;
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

} // namespace

std::optional<Directive> parseDirective(std::string_view word) {
  const int row = kTable.find(kRows, word);
  return row < 0 ? std::nullopt : std::optional(kRows[row].directive);
}

std::string_view nearestDirective(std::string_view word) {
  if (word.size() > kLongestWord)
    return {};
  std::string_view nearest;
  size_t best = word.size() < 5 ? 2 : 3; // found when below
  for (const Row &row : kRows) {
    size_t distance = editDistance(word, row.word);
    if (distance < best) {
      best = distance;
      nearest = row.word;
    }
  }
  return nearest;
}

std::optional<StateSpace> stateSpace(Directive directive) {
  switch (directive) {
  case Directive::Reg:
    return StateSpace::Reg;
  case Directive::Param:
    return StateSpace::Param;
  case Directive::Shared:
    return StateSpace::Shared;
  case Directive::Local:
    return StateSpace::Local;
  case Directive::Global:
    return StateSpace::Global;
  case Directive::Const:
    return StateSpace::Const;
  case Directive::Tex:
    return StateSpace::Tex;
  case Directive::Sreg:
    return StateSpace::Sreg;
  case Directive::Loc:
  case Directive::Pragma:
  case Directive::File:
  case Directive::Section:
  case Directive::BranchTargets:
  case Directive::CallTargets:
  case Directive::CallPrototype:
  case Directive::Version:
  case Directive::Target:
  case Directive::AddressSize:
  case Directive::Alias:
  case Directive::Entry:
  case Directive::Func:
  case Directive::Extern:
  case Directive::Visible:
  case Directive::Weak:
  case Directive::Common:
  case Directive::Align:
  case Directive::Ptr:
  case Directive::Attribute:
  case Directive::MaxThreads:
  case Directive::RequiredThreads:
  case Directive::MinBlocksPerSm:
  case Directive::MaxBlocksPerSm:
  case Directive::MaxRegisters:
  case Directive::NoReturn:
  case Directive::AbiPreserve:
  case Directive::AbiPreserveControl:
  case Directive::ExplicitCluster:
  case Directive::RequiredCluster:
  case Directive::MaxClusterRank:
  case Directive::BlocksAreClusters:
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace tenon::ptx
