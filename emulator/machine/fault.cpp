// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/machine/fault.h"

#include "emulator/machine/decoded_kernel.h"
#include "support/text/demangle.h"

namespace tenon::emulator {

std::string threadName(const Warp &warp, uint32_t lane) {
  const Dim3 &shape = warp.executor->launch->block;
  uint32_t thread = warp.index * kLanes + lane;
  const Dim3 &block = warp.block->id;
  auto triple = [](uint32_t x, uint32_t y, uint32_t z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
  };
  return "thread " + triple(thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y) + " of block " +
         triple(block.x, block.y, block.z);
}

std::string placeName(const FunctionCode &code, uint32_t index) {
  const ptx::Function &function = *code.function;
  if (index >= function.instructions.size())
    return std::string(function.name);
  const ptx::Instruction &instruction = function.instructions[index];
  const DecodedKernel *kernel = code.kernel;
  const ptx::Module &module = *kernel->module;
  std::string text(
      module.source->text().substr(instruction.range.begin, instruction.range.end - instruction.range.begin));
  // On one line, as a reader wants it; the parser keeps the text as it stands.
  std::string line;
  for (char c : text)
    if (!isspace(static_cast<unsigned char>(c)))
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  while (!line.empty() && (line.back() == ';' || line.back() == ' '))
    line.pop_back();
  std::string out = module.source->name() + ":" + std::to_string(instruction.line) + ":" +
                    std::to_string(instruction.column) + ": " + line;
  if (uint32_t mark = code.marks[index]) {
    const ptx::SourceMark &source = function.marks[mark - 1];
    for (const ptx::DebugFile &file : module.files)
      if (file.number == source.file && source.line != 0)
        out += "\n  source: " + std::string(file.path) + ":" + std::to_string(source.line) + ":" +
               std::to_string(source.column);
  }
  return out;
}

void raiseFault(Warp &warp, const Decoded &instruction, uint32_t lane, int code, const std::string &what) {
  Executor &executor = *warp.executor;
  if (executor.failed())
    return;
  executor.fault.code = code;
  executor.fault.message = "kernel '" + readableName(executor.launch->kernel->name) + "', " + threadName(warp, lane) +
                           ": " + what + "\n  at " + placeName(*warp.frame->code, instruction.instruction);
}

} // namespace tenon::emulator
