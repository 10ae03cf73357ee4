// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text -> Module. Accepts everything that nvcc 13 and LLVM 22 print (PTX ISA up to 9.0), debug sections included.
#pragma once

#include "ptx/module.h"
#include "ptx/parse/body_visitor.h"
#include "support/diagnostics.h"

#include <memory>

namespace tenon::ptx {

/// Parses a whole file. Errors recover at the next `;` or `}` and all are reported into `diagnostics`, each with
/// file:line:column (rule "P-<n>", listed in ptx/README.md). The module holds whatever was understood; use it only when
/// no error was added. A trailing NUL, as the driver takes PTX, ends the text.
Module parse(std::shared_ptr<const SourceFile> source, Diagnostics &diagnostics);

/// As parse(), one body at a time: each is shown to `visit` and then dropped, so that memory holds the largest body,
/// not all of them. The functions of the result have headers (and isDeclaration as written) but no statements, no
/// instructions, no declarations. A body with an error in it, or behind one, is not shown.
Module parseBodies(std::shared_ptr<const SourceFile> source, Diagnostics &diagnostics, const BodyVisitor &visit);

/// The same, in the memory of a parse before.
class BodyRoom;
Module parseBodies(std::shared_ptr<const SourceFile> source, Diagnostics &diagnostics, const BodyVisitor &visit,
                   BodyRoom &room);

/// Reads the body of one function of a module again. What it returns lives as long as `arena` and module.source.
Function parseBody(const Module &module, const Function &function, Arena &arena);

} // namespace tenon::ptx
