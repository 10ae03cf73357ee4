// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX inside of an object: itself, or what fatbins, host objects and archives hold, however deep. For those who
// look for something before the link: what cannot be read is passed over here, and reported when the object is linked
// (passes/expand_objects.cpp).
#pragma once

#include "abi/target_arch.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

/// @param target  takes PTX for this architecture alone; number 0: for all of them
/// @return texts in the order of the object
std::vector<std::string> containedPtx(std::string_view bytes, abi::TargetArch target);

} // namespace tenon::linker
