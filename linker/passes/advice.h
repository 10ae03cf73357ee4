// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixes that tell what to write, in the language that the export is declared in.
#pragma once

#include "abi/layout.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

/// How `declared` promises that the address of binding `binding` is a multiple of `bytes`: as an entry of
/// #hal.pipeline.binding, a member of the manifest or a call behind TENON_READ. Where the declaration's file does not
/// tell which (standard input), all three.
std::string alignmentAdvice(const abi::Export &declared, uint32_t binding, uint32_t bytes);

/// How `declared` says that the kernel's parameters stand in this order.
std::string orderAdvice(const abi::Export &declared, const std::vector<abi::DeclaredParameter> &order);

/// How `declared` names the entry point `symbol`, which its object has under a C++ name.
std::string symbolAdvice(const abi::Export &declared, std::string_view symbol);

} // namespace tenon::linker
