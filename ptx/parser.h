// PTX text -> Module. Accepts everything that nvcc 13 and LLVM 22 print (PTX ISA up to 9.0), debug sections included.
#pragma once

#include "abi/diagnostics.h"
#include "ptx/module.h"

#include <memory>

namespace tenon::ptx {

/// Parses a whole file. Errors recover at the next `;` or `}` and all are reported into `diagnostics`, each with
/// file:line:column (rule "P-<n>", listed in ptx/README.md). The module holds whatever was understood; use it only when
/// no error was added. A trailing NUL, as the driver takes PTX, ends the text.
Module parse(std::shared_ptr<const SourceFile> source, Diagnostics &diagnostics);

} // namespace tenon::ptx
