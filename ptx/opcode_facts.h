// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The little that reading a body needs to know of opcodes: where control goes on, whether operand 0 is a result, and
// whether handles are taken. Found once for each spelling; what an opcode means besides is for the reader of the
// module.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::ptx {

/// Where control goes on behind an instruction. Predicated, it may go on with the next one as well.
enum class Control : uint8_t {
  Next,
  Branch,      // bra: to the label that is its last operand
  TableBranch, // brx: to a label of the table that is its last operand
  Exit,        // ret, exit, trap
  Call,        // and then with the next one
};

/// What operand 0 is.
enum class FirstOperand : uint8_t {
  Result, // unless it is an address; so of every opcode that is not known
  Source,
  ResultList, // of call: results where it is a list, else the callee
};

struct OpcodeFacts {
  Control control = Control::Next;
  FirstOperand first = FirstOperand::Result;
  bool takesHandle = false; // of a texture, a surface or a sampler
};

OpcodeFacts factsOf(std::string_view opcode, std::span<const std::string_view> modifiers);

} // namespace tenon::ptx
