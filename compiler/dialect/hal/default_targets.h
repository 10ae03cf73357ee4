// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "abi/target_arch.h"

#include <array>

namespace tenon::compiler {

/// What is compiled for where nobody names a target: what runs everywhere (the PTX of sm_75 and, for what is still to
/// come, of sm_80), and what is fast on the architectures that have instructions of their own.
inline constexpr std::array kDefaultTargets = {abi::TargetArch{75}, abi::TargetArch{80},
                                               abi::TargetArch{90, abi::ArchSuffix::A}};

} // namespace tenon::compiler
