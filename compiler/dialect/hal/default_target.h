// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "abi/target_arch.h"

namespace tenon::compiler {

/// What is compiled for where nobody names a target: its PTX runs on every later device.
inline constexpr abi::TargetArch kDefaultTarget{75};

} // namespace tenon::compiler
