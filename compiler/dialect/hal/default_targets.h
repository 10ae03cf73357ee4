// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "abi/target_arch.h"

#include <array>

namespace tenon::compiler {

/// Hopper's own target. Copies by tensor maps, clusters that share them, and products of warpgroups (wgmma) are
/// compiled for it and for no other.
inline constexpr abi::TargetArch kHopper = {90, abi::ArchSuffix::A};

/// What is compiled for where nobody names a target: what runs everywhere (the PTX of sm_75 and, for what is still to
/// come, of sm_80), and what is fast on the architectures that have instructions of their own.
inline constexpr std::array kDefaultTargets = {abi::TargetArch{75}, abi::TargetArch{80}, kHopper};

} // namespace tenon::compiler
