// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What somebody may have meant who wrote an architecture that is none: for messages.
#pragma once

#include <string>
#include <string_view>

namespace tenon::abi {

/// "did you mean 'sm_80'? Known: sm_50, .." for "sm80", "compute_80", "8.0"; without the question where nothing is
/// near.
std::string archAdvice(std::string_view text);

} // namespace tenon::abi
