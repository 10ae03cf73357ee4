// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What shells complete for a tool, from its table: option names, and their values where they are words, files or
// folders. Each text is a file for the shell's own folder of completions.
#pragma once

#include "support/process/tool_help.h"

namespace tenon {

std::string bashCompletion(const ToolHelp &help);
std::string zshCompletion(const ToolHelp &help);
std::string fishCompletion(const ToolHelp &help);

} // namespace tenon
