// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/function_decoder.h"

#include "emulator/decode/families.h"
#include "emulator/decode/kernel_builder.h"
#include "support/align.h"

#include <algorithm>

namespace tenon::emulator {

using ptx::ScalarType;
using ptx::StateSpace;

FunctionDecoder::FunctionDecoder(KernelBuilder &builder, const ptx::Function &function, FunctionCode &code)
    : builder_(builder), function_(function), code_(code), decoder_(builder, function, code) {
  if (function.isEntry)
    return;
  for (const ptx::Variable &variable : function.parameters) {
    code_.parameters.push_back(allocateLocal(variable));
    decoder_.names_.declareSymbol(variable.name, {code_.parameters.back(), false});
  }
  for (const ptx::Variable &variable : function.returns) {
    code_.results.push_back(allocateLocal(variable));
    decoder_.names_.declareSymbol(variable.name, {code_.results.back(), false});
  }
}

FrameSlot FunctionDecoder::allocateLocal(const ptx::Variable &variable) {
  FrameSlot slot;
  slot.bytes = static_cast<uint32_t>(variable.bytes());
  // Frames begin at multiples of 16; what wants more is rare and refused.
  if (variable.effectiveAlignment() > 16)
    decoder_.refuse("local variable '" + std::string(variable.name) + "' has alignment " +
                    std::to_string(variable.effectiveAlignment()) + ", the emulator supports 16");
  slot.offset = static_cast<uint32_t>(alignUp(code_.localBytes, std::max(1u, variable.effectiveAlignment())));
  code_.localBytes = slot.offset + slot.bytes;
  return slot;
}

void FunctionDecoder::declare(const ptx::Variable &variable) {
  FunctionNames &names = decoder_.names_;
  switch (variable.space) {
  case StateSpace::Reg:
    if (variable.vectorWidth > 1 || (variable.type != ScalarType::Pred && ptx::byteSize(variable.type) > 16))
      decoder_.refuse("the emulator does not support registers of type '" + std::string(ptx::spelling(variable.type)) +
                      "'" + (variable.vectorWidth > 1 ? " in vectors" : ""));
    else
      names.declareRegisters(variable);
    return;
  case StateSpace::Shared: {
    uint32_t offset = builder_.sharedInFunctions[{&function_, &variable}];
    names.declareSymbol(variable.name, {{offset, static_cast<uint32_t>(variable.bytes())}, true});
    return;
  }
  case StateSpace::Local:
  case StateSpace::Param:
    names.declareSymbol(variable.name, {allocateLocal(variable), false});
    return;
  default:
    decoder_.fail("a variable of this space cannot be declared in a function: '" + std::string(variable.name) + "'");
  }
}

void FunctionDecoder::decodeInstruction(uint32_t index) {
  if (!decoder_.begin(index))
    return;
  const Opcode *opcode = findOpcode(decoder_.in());
  if (!opcode) {
    decoder_.unsupported();
    return;
  }
  if (opcode->target.number && !decoder_.needsTarget(opcode->target.number, opcode->target.specific))
    return;
  if (opcode->operands.most != OperandCount::kAny &&
      !decoder_.expectOperands(opcode->operands.least, opcode->operands.most))
    return;
  if (opcode->decode(decoder_))
    decoder_.end();
}

void FunctionDecoder::decode() {
  uint32_t mark = 0;
  code_.marks.assign(function_.instructions.size(), 0);
  // Labels of a block are seen from inside it, also before they stand: targets are resolved at the end.
  for (const ptx::Statement &statement : function_.statements) {
    using Kind = ptx::Statement::Kind;
    switch (statement.kind) {
    case Kind::Label:
      decoder_.names_.declareLabel(statement.name, static_cast<uint32_t>(code_.code.size()));
      break;
    case Kind::Declaration:
      declare(function_.declarations[statement.index]);
      break;
    case Kind::BlockBegin:
      decoder_.names_.openScope();
      break;
    case Kind::BlockEnd:
      decoder_.names_.closeScope();
      break;
    case Kind::Loc:
      mark = statement.index + 1;
      break;
    case Kind::Pragma:
    case Kind::BranchTargets:
    case Kind::CallTargets:
    case Kind::CallPrototype:
      break;
    case Kind::Instruction:
      code_.marks[statement.index] = mark;
      decodeInstruction(statement.index);
      break;
    }
  }
  decoder_.endFunction();
  decoder_.resolveLabels();
  // How many instructions from here on only compute (Decoded::run).
  for (size_t k = code_.code.size(); k-- > 0;) {
    Decoded &decoded = code_.code[k];
    bool computes = decoded.kind == Kind::Alu || decoded.kind == Kind::Checked;
    decoded.run = computes ? 1 + (k + 1 < code_.code.size() ? code_.code[k + 1].run : 0) : 0;
  }
}

} // namespace tenon::emulator
