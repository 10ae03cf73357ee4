// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function: its names, its instructions in order, its labels.
#include "emulator/decode/decoder.h"

#include <algorithm>

namespace tenon::emulator {

using ptx::ScalarType;
using ptx::StateSpace;

namespace {

uint64_t roundUp(uint64_t value, uint64_t to) {
  return to ? (value + to - 1) / to * to : value;
}

ScalarType unsignedOf(uint32_t bytes) {
  return bytes == 1 ? ScalarType::U8 : bytes == 2 ? ScalarType::U16 : bytes == 4 ? ScalarType::U32 : ScalarType::U64;
}
ScalarType signedOf(uint32_t bytes) {
  return bytes == 1 ? ScalarType::S8 : bytes == 2 ? ScalarType::S16 : bytes == 4 ? ScalarType::S32 : ScalarType::S64;
}

} // namespace

// ---- Form

bool Form::take(std::string_view modifier) {
  for (size_t k = 0; k < instruction_.modifiers.size() && k < 64; ++k)
    if (!(taken_ >> k & 1) && instruction_.modifiers[k] == modifier) {
      taken_ |= uint64_t(1) << k;
      return true;
    }
  return false;
}

int Form::takeOneOf(std::initializer_list<std::string_view> choices) {
  int index = 0;
  for (std::string_view choice : choices) {
    if (take(choice))
      return index;
    ++index;
  }
  return -1;
}

ScalarType Form::takeType() {
  for (size_t k = 0; k < instruction_.modifiers.size() && k < 64; ++k)
    if (!(taken_ >> k & 1))
      if (ScalarType type = ptx::parseScalarType(instruction_.modifiers[k]); type != ScalarType::None) {
        taken_ |= uint64_t(1) << k;
        return type;
      }
  return ScalarType::None;
}

Rounding Form::takeRounding() {
  switch (takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"})) {
  case 0:
    return Rounding::Rn;
  case 1:
    return Rounding::Rz;
  case 2:
    return Rounding::Rm;
  case 3:
    return Rounding::Rp;
  case 4:
    return Rounding::Rna;
  case 5:
    return Rounding::Rni;
  case 6:
    return Rounding::Rzi;
  case 7:
    return Rounding::Rmi;
  case 8:
    return Rounding::Rpi;
  default:
    return Rounding::None;
  }
}

std::string_view Form::left() const {
  for (size_t k = 0; k < instruction_.modifiers.size(); ++k)
    if (k >= 64 || !(taken_ >> k & 1))
      return instruction_.modifiers[k];
  return {};
}

// ---- FunctionDecoder

FunctionDecoder::FunctionDecoder(KernelBuilder &builder, const ptx::Function &function, FunctionCode &code)
    : builder_(builder), function_(function), code_(code) {
  scopes_.emplace_back();
  if (!function.isEntry) {
    for (const ptx::Variable &variable : function.parameters) {
      FrameSlot slot = allocateLocal(variable);
      code_.parameters.push_back(slot);
      scopes_[0].symbols[variable.name] = {slot, false};
    }
    for (const ptx::Variable &variable : function.returns) {
      FrameSlot slot = allocateLocal(variable);
      code_.results.push_back(slot);
      scopes_[0].symbols[variable.name] = {slot, false};
    }
  }
  for (const ptx::LabelTable &table : function.tables)
    tables_[table.name] = &table;
  countDefinitions();
}

bool FunctionDecoder::fail(const std::string &message) {
  const SourceFile &source = *builder_.module.source;
  SourceLocation where{source.name(), in_ ? in_->line : function_.line, in_ ? in_->column : function_.column};
  builder_.diagnostics.error(where, "", message);
  return false;
}

bool FunctionDecoder::unsupported(const std::string &why) {
  return fail("the emulator does not support '" + in_->form() + "'" + (why.empty() ? "" : ": " + why));
}

FrameSlot FunctionDecoder::allocateLocal(const ptx::Variable &variable) {
  FrameSlot slot;
  slot.bytes = static_cast<uint32_t>(variable.bytes());
  // Frames begin at multiples of 16; what wants more is rare and refused.
  if (variable.effectiveAlignment() > 16)
    fail("local variable '" + std::string(variable.name) + "' has alignment " +
         std::to_string(variable.effectiveAlignment()) + ", the emulator supports 16");
  slot.offset = static_cast<uint32_t>(roundUp(code_.localBytes, std::max(1u, variable.effectiveAlignment())));
  code_.localBytes = slot.offset + slot.bytes;
  return slot;
}

uint32_t FunctionDecoder::allocateRegister(uint32_t bytes) {
  uint32_t size = bytes == 0 ? 4 : bytes * kLanes;
  uint32_t at = static_cast<uint32_t>(roundUp(code_.registerBytes, bytes == 0 ? 4 : 64));
  code_.registerBytes = at + size;
  return at;
}

void FunctionDecoder::declare(const ptx::Variable &variable) {
  Scope &scope = scopes_[scope_];
  if (variable.space == StateSpace::Reg) {
    uint32_t bytes = variable.type == ScalarType::Pred ? 0 : ptx::byteSize(variable.type);
    Declared declared{variable.type, variable.registerCount, {}};
    if (variable.vectorWidth > 1 || bytes > 16) {
      fail("the emulator does not support registers of type '" + std::string(ptx::spelling(variable.type)) + "'" +
           (variable.vectorWidth > 1 ? " in vectors" : ""));
      return;
    }
    // Registers get their place when they are first used: a debug build declares many more.
    declared.offsets.assign(std::max(1u, variable.registerCount), kNoOperand);
    scope.registers[variable.name] = std::move(declared);
    return;
  }
  if (variable.space == StateSpace::Shared) {
    uint32_t offset = builder_.sharedInFunctions[{&function_, &variable}];
    scope.symbols[variable.name] = {{offset, static_cast<uint32_t>(variable.bytes())}, true};
    return;
  }
  if (variable.space == StateSpace::Local || variable.space == StateSpace::Param) {
    scope.symbols[variable.name] = {allocateLocal(variable), false};
    return;
  }
  fail("a variable of this space cannot be declared in a function: '" + std::string(variable.name) + "'");
}

uint32_t *FunctionDecoder::findPlace(std::string_view name, Declared *&declared) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  uint64_t number = 0;
  bool numbered = digits < name.size() && name.size() - digits < 10;
  for (size_t k = digits; numbered && k < name.size(); ++k)
    number = number * 10 + static_cast<uint64_t>(name[k] - '0');
  for (uint32_t s = scope_;; s = scopes_[s].parent) {
    auto &registers = scopes_[s].registers;
    if (auto it = registers.find(name); it != registers.end() && it->second.count == 0) {
      declared = &it->second;
      return &declared->offsets[0];
    }
    if (numbered)
      if (auto it = registers.find(name.substr(0, digits)); it != registers.end() && number < it->second.count) {
        declared = &it->second;
        return &declared->offsets[number];
      }
    if (s == 0)
      return nullptr;
  }
}

std::optional<FunctionDecoder::Register> FunctionDecoder::findRegister(std::string_view name) {
  Declared *declared = nullptr;
  uint32_t *offset = findPlace(name, declared);
  if (!offset)
    return std::nullopt;
  uint32_t bytes = declared->type == ScalarType::Pred ? 0 : ptx::byteSize(declared->type);
  if (*offset == kNoOperand)
    *offset = allocateRegister(bytes);
  return Register{*offset, bytes};
}

/// Whatever an instruction writes is in its first operand. What is counted too often is not bound, that is all.
void FunctionDecoder::countDefinitions() {
  std::function<void(const Operand &)> visit = [&](const Operand &operand) {
    if (operand.kind == Operand::Kind::Name)
      ++definitions_[operand.name];
    for (const Operand &element : operand.elements)
      visit(element);
  };
  for (const ptx::Instruction &instruction : function_.instructions)
    if (!instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::Address)
      visit(instruction.operands[0]);
}

bool FunctionDecoder::bindConstant(const Form &form, const Operand &destination, uint32_t bytes, uint32_t constant) {
  if (predicate_ != kNoOperand || destination.kind != Operand::Kind::Name || constant >> kBaseShift == kRegisterBase ||
      !form.left().empty())
    return false;
  auto it = definitions_.find(destination.name);
  if (it == definitions_.end() || it->second != 1)
    return false;
  Declared *declared = nullptr;
  uint32_t *offset = findPlace(destination.name, declared);
  // A use that stands before the definition already has its register.
  if (!offset || *offset != kNoOperand || declared->type == ScalarType::Pred || ptx::byteSize(declared->type) != bytes)
    return false;
  *offset = constant;
  return true;
}

const FunctionDecoder::Symbol *FunctionDecoder::findSymbol(std::string_view name) const {
  for (uint32_t s = scope_;; s = scopes_[s].parent) {
    auto it = scopes_[s].symbols.find(name);
    if (it != scopes_[s].symbols.end())
      return &it->second;
    if (s == 0)
      return nullptr;
  }
}

bool FunctionDecoder::expectOperands(size_t least, size_t most) {
  size_t count = in_->operands.size();
  if (count >= least && count <= most)
    return true;
  return fail("'" + in_->form() + "' has " + std::to_string(count) + " operands, it takes " + std::to_string(least) +
              (most == least ? "" : " to " + std::to_string(most)));
}

bool FunctionDecoder::needsTarget(uint16_t number, bool specific) {
  const abi::TargetArch &target = builder_.module.target;
  if (target.number >= number && (!specific || target.suffix != abi::ArchSuffix::None))
    return true;
  return fail("'" + in_->form() + "' needs .target sm_" + std::to_string(number) + (specific ? "a" : " or higher") +
              ", the module has " + target.toString());
}

uint32_t FunctionDecoder::addOperands(const std::vector<uint32_t> &operands) {
  uint32_t at = static_cast<uint32_t>(code_.operands.size());
  code_.operands.insert(code_.operands.end(), operands.begin(), operands.end());
  return at;
}

void FunctionDecoder::emit(Decoded decoded) {
  decoded.instruction = index_;
  decoded.predicate = predicate_;
  decoded.predicateNegated = predicateNegated_;
  code_.code.push_back(decoded);
}

void FunctionDecoder::emitConversion(uint32_t to, uint32_t toBytes, uint32_t from, uint32_t fromBytes, bool isSigned) {
  Decoded decoded;
  decoded.d = to;
  decoded.a = from;
  ConvertForm form;
  form.to = isSigned ? signedOf(toBytes) : unsignedOf(toBytes);
  form.from = isSigned ? signedOf(fromBytes) : unsignedOf(fromBytes);
  decoded.handler = handlers().convert(form);
  emit(decoded);
}

bool FunctionDecoder::finish(Form &form, Decoded &decoded) {
  if (std::string_view left = form.left(); !left.empty())
    return unsupported("modifier '." + std::string(left) + "'");
  if (!decoded.handler)
    return unsupported();
  emit(decoded);
  return true;
}

void FunctionDecoder::resolveLabels() {
  for (const Fixup &fixup : fixups_) {
    std::optional<uint32_t> target;
    for (uint32_t s = fixup.scope;; s = scopes_[s].parent) {
      auto it = scopes_[s].labels.find(fixup.label);
      if (it != scopes_[s].labels.end())
        target = it->second;
      if (target || s == 0)
        break;
    }
    if (!target) {
      builder_.diagnostics.error({builder_.module.source->name(), fixup.line, fixup.column}, "",
                                 "label '" + std::string(fixup.label) + "' is not in '" + std::string(function_.name) +
                                     "'");
      continue;
    }
    (fixup.isTable ? code_.operands[fixup.at] : code_.code[fixup.at].target) = *target;
  }
}

void FunctionDecoder::decode() {
  uint32_t mark = 0;
  code_.marks.assign(function_.instructions.size(), 0);
  std::vector<uint32_t> open;
  // Labels of a block are seen from inside it, also before they stand: targets are resolved at the end.
  for (const ptx::Statement &statement : function_.statements) {
    using Kind = ptx::Statement::Kind;
    switch (statement.kind) {
    case Kind::Label:
      scopes_[scope_].labels[statement.name] = static_cast<uint32_t>(code_.code.size());
      break;
    case Kind::Declaration:
      declare(function_.declarations[statement.index]);
      break;
    case Kind::BlockBegin:
      open.push_back(scope_);
      scopes_.emplace_back();
      scopes_.back().parent = scope_;
      scope_ = static_cast<uint32_t>(scopes_.size() - 1);
      break;
    case Kind::BlockEnd:
      if (!open.empty()) {
        scope_ = open.back();
        open.pop_back();
      }
      break;
    case Kind::Loc:
      mark = statement.index + 1;
      break;
    case Kind::Pragma:
    case Kind::BranchTargets:
    case Kind::CallTargets:
    case Kind::CallPrototype:
      break;
    case Kind::Instruction: {
      index_ = statement.index;
      in_ = &function_.instructions[index_];
      code_.marks[index_] = mark;
      predicate_ = kNoOperand;
      predicateNegated_ = in_->predicateNegated;
      after_.clear();
      if (!in_->predicate.empty()) {
        std::optional<Register> found = findRegister(in_->predicate);
        if (!found || found->bytes != 0) {
          fail("'" + std::string(in_->predicate) + "' is not a predicate");
          break;
        }
        predicate_ = found->offset;
      }
      const Opcode *opcode = findOpcode(in_->opcode);
      if (!opcode) {
        unsupported();
        break;
      }
      if ((this->*opcode->decode)())
        for (const Widening &widening : std::vector<Widening>(after_))
          emitConversion(widening.to, widening.toBytes, widening.from, widening.fromBytes, widening.isSigned);
      break;
    }
    }
  }
  in_ = nullptr;
  // Falling off the end returns.
  index_ = static_cast<uint32_t>(function_.instructions.size());
  predicate_ = kNoOperand;
  Decoded last;
  last.kind = function_.isEntry ? Kind::Exit : Kind::Return;
  last.handler = nothingHandler();
  emit(last);
  resolveLabels();
  for (size_t k = code_.code.size(); k-- > 0;) {
    Decoded &decoded = code_.code[k];
    bool computes = decoded.kind == Kind::Alu || decoded.kind == Kind::Checked;
    decoded.run = computes ? 1 + (k + 1 < code_.code.size() ? code_.code[k + 1].run : 0) : 0;
  }
}
} // namespace tenon::emulator
