// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/opcode_facts.h"

#include <algorithm>

namespace tenon::ptx {
namespace {

Control controlOf(std::string_view opcode) {
  if (opcode == "bra")
    return Control::Branch;
  if (opcode == "brx")
    return Control::TableBranch;
  if (opcode == "ret" || opcode == "exit" || opcode == "trap")
    return Control::Exit;
  return opcode == "call" ? Control::Call : Control::Next;
}

/// Opcodes whose operand 0 is a name but no result; those with an address there need not be listed.
constexpr std::string_view kWithoutResult[] = {"bra",     "brx", "exit",       "nanosleep",
                                               "pmevent", "ret", "setmaxnreg", "stackrestore"};

/// Textures, samplers and surfaces.
constexpr std::string_view kOfHandles[] = {"tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"};

FirstOperand firstOperandOf(std::string_view opcode, std::span<const std::string_view> modifiers) {
  auto has = [&](std::string_view modifier) { return std::ranges::find(modifiers, modifier) != modifiers.end(); };
  auto resultIf = [](bool result) { return result ? FirstOperand::Result : FirstOperand::Source; };
  if (opcode == "call")
    return FirstOperand::ResultList;
  if (opcode == "bar" || opcode == "barrier")
    return resultIf(has("red"));
  if (opcode == "tcgen05")
    return resultIf(has("ld"));
  return resultIf(!opcode.empty() && std::ranges::find(kWithoutResult, opcode) == std::end(kWithoutResult));
}

} // namespace

OpcodeFacts factsOf(std::string_view opcode, std::span<const std::string_view> modifiers) {
  return {.control = controlOf(opcode),
          .first = firstOperandOf(opcode, modifiers),
          .takesHandle = std::ranges::find(kOfHandles, opcode) != std::end(kOfHandles)};
}

} // namespace tenon::ptx
