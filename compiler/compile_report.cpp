// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/compile_report.h"

#include "support/status.h"

#include <algorithm>
#include <cstdio>

namespace tenon::compiler {

CompileReport::Timer::~Timer() {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  report_.addPhase(std::move(name_), taken.count());
}

void CompileReport::count(const host::Function &function) {
  checks_ += function.checks.size();
  for (const host::Command &command : function.commands)
    ++(std::holds_alternative<host::Dispatch>(command.body) ? dispatches_ : copies_);
  for (const host::Function &block : function.blocks)
    count(block);
}

void CompileReport::count(const host::Program &program, size_t fileBytes) {
  functions_ = program.functions.size();
  for (const host::Function &function : program.functions)
    count(function);
  if (program.initializer)
    count(*program.initializer);
  executables_ = program.executables.size();
  for (const std::vector<uint8_t> &executable : program.executables)
    executableBytes_ += executable.size();
  constants_ = program.constants.size();
  for (const host::Constant &constant : program.constants) {
    constantBytes_ += constant.size;
    storedConstantBytes_ += constant.bytes.size();
  }
  fileBytes_ = fileBytes;
}

std::string CompileReport::text() const {
  size_t width = 0;
  double total = 0;
  for (const Phase &phase : phases_) {
    width = std::max(width, phase.name.size());
    total += phase.seconds;
  }
  std::string text;
  const auto line = [&](const std::string &name, double seconds) {
    char number[64];
    std::snprintf(number, sizeof number, "%10.2f ms\n", seconds * 1e3);
    text += concat(name, std::string(width - std::min(width, name.size()), ' '), number);
  };
  for (const Phase &phase : phases_)
    line(phase.name, phase.seconds);
  line("total", total);
  if (fileBytes_ == 0)
    return text; // it failed
  text +=
      concat("functions: ", functions_, ", dispatches ", dispatches_, ", copies ", copies_, ", checks ", checks_, "\n");
  text += concat("executables: ", executables_, ", of them generated: ", generation_.executables, ", ",
                 executableBytes_, " bytes\n");
  text += concat("PTX: ", generation_.generated, " generated, ", generation_.cached, " from the cache, ",
                 generation_.shared, " shared, ", generation_.ptxBytes, " bytes\n");
  text += concat("constants: ", constants_, ", ", constantBytes_, " bytes, ", storedConstantBytes_, " stored\n");
  text += concat("program: ", fileBytes_, " bytes\n");
  return text;
}

} // namespace tenon::compiler
