// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/source_line.h"

namespace tenon::linker {

std::optional<SourceLocation> sourceLine(const ptx::Module &module, const ptx::Function &function,
                                         uint32_t instruction) {
  const ptx::SourceMark *mark = nullptr;
  for (const ptx::Statement &statement : function.statements) {
    if (statement.kind == ptx::Statement::Kind::Loc)
      mark = &function.marks[statement.index];
    else if (statement.kind == ptx::Statement::Kind::Instruction && statement.index == instruction)
      break;
  }
  if (!mark || mark->line == 0) // line 0: the compiler made it up
    return {};
  for (const ptx::DebugFile &file : module.files)
    if (file.number == mark->file)
      return SourceLocation{std::string(file.path), mark->line, mark->column};
  return {};
}

} // namespace tenon::linker
