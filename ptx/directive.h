// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dotted words that begin a directive or stand in a declaration; types (.f32) and vector widths (.v4) are not here.
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::ptx {

enum class Directive : uint8_t {
  // state spaces
  Reg,
  Param,
  Shared,
  Local,
  Global,
  Const,
  Tex,
  Sreg,
  // statements and sections
  Loc,
  Pragma,
  File,
  Section,
  BranchTargets,
  CallTargets,
  CallPrototype,
  // module
  Version,
  Target,
  AddressSize,
  Alias,
  Entry,
  Func,
  // linkage
  Extern,
  Visible,
  Weak,
  Common,
  // parts of a variable
  Align,
  Ptr,
  Attribute,
  // header of a function
  MaxThreads,
  RequiredThreads,
  MinBlocksPerSm,
  MaxBlocksPerSm,
  MaxRegisters,
  NoReturn,
  AbiPreserve,
  AbiPreserveControl,
  ExplicitCluster,
  RequiredCluster,
  MaxClusterRank,
  BlocksAreClusters,
};

/// "maxntid" (no dot) -> MaxThreads; nothing for other words.
std::optional<Directive> parseDirective(std::string_view word);
/// The directive nearest to a misspelt word ("visble" -> "visible"); empty when none is near.
std::string_view nearestDirective(std::string_view word);
/// Reg -> StateSpace::Reg; nothing for directives that are no state space.
std::optional<StateSpace> stateSpace(Directive directive);

} // namespace tenon::ptx
