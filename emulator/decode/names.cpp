// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/names.h"

#include "support/align.h"

#include <algorithm>
#include <functional>

namespace tenon::emulator {

using ptx::Operand;
using ptx::ScalarType;

FunctionNames::FunctionNames(const ptx::Function &function, FunctionCode &code) : code_(code) {
  scopes_.emplace_back();
  countDefinitions(function);
}

/// Whatever an instruction writes is in its first operand. What is counted too often is not bound, that is all.
void FunctionNames::countDefinitions(const ptx::Function &function) {
  std::function<void(const Operand &)> visit = [&](const Operand &operand) {
    if (operand.kind == Operand::Kind::Name)
      ++definitions_[operand.name.substr(0, operand.name.find('.'))]; // of %r1.b0, the part of a register, %r1
    for (const Operand &element : operand.elements)
      visit(element);
  };
  for (const ptx::Instruction &instruction : function.instructions)
    if (!instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::Address)
      visit(instruction.operands[0]);
}

void FunctionNames::openScope() {
  scopes_.emplace_back();
  scopes_.back().parent = scope_;
  scope_ = static_cast<uint32_t>(scopes_.size() - 1);
}

void FunctionNames::closeScope() {
  scope_ = scopes_[scope_].parent; // the outermost is its own
}

void FunctionNames::declareRegisters(const ptx::Variable &variable) {
  Declared declared{variable.type, variable.registerCount, {}};
  declared.offsets.assign(std::max(1u, variable.registerCount), kNoOperand);
  scopes_[scope_].registers[variable.name] = std::move(declared);
}

void FunctionNames::declareSymbol(std::string_view name, const Symbol &symbol) {
  scopes_[scope_].symbols[name] = symbol;
}

void FunctionNames::declareLabel(std::string_view name, uint32_t pc) {
  scopes_[scope_].labels[name] = pc;
}

uint32_t *FunctionNames::findPlace(std::string_view name, Declared *&declared) {
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

std::optional<FunctionNames::Register> FunctionNames::findRegister(std::string_view name) {
  Declared *declared = nullptr;
  uint32_t *offset = findPlace(name, declared);
  if (!offset)
    return std::nullopt;
  uint32_t bytes = declared->type == ScalarType::Pred ? 0 : ptx::byteSize(declared->type);
  if (*offset == kNoOperand)
    *offset = allocateRegister(bytes);
  return Register{*offset, bytes};
}

const FunctionNames::Symbol *FunctionNames::findSymbol(std::string_view name) const {
  for (uint32_t s = scope_;; s = scopes_[s].parent) {
    auto it = scopes_[s].symbols.find(name);
    if (it != scopes_[s].symbols.end())
      return &it->second;
    if (s == 0)
      return nullptr;
  }
}

std::optional<uint32_t> FunctionNames::findLabel(std::string_view name, uint32_t scope) const {
  for (uint32_t s = scope;; s = scopes_[s].parent) {
    auto it = scopes_[s].labels.find(name);
    if (it != scopes_[s].labels.end())
      return it->second;
    if (s == 0)
      return std::nullopt;
  }
}

bool FunctionNames::bind(std::string_view name, uint32_t bytes, uint32_t constant) {
  auto it = definitions_.find(name);
  if (it == definitions_.end() || it->second != 1)
    return false;
  Declared *declared = nullptr;
  uint32_t *offset = findPlace(name, declared);
  // A use that stands before the definition already has its register.
  if (!offset || *offset != kNoOperand || declared->type == ScalarType::Pred || ptx::byteSize(declared->type) != bytes)
    return false;
  *offset = constant;
  return true;
}

uint32_t FunctionNames::allocateRegister(uint32_t bytes) {
  uint32_t size = bytes == 0 ? 4 : bytes * kLanes;
  uint32_t at = static_cast<uint32_t>(alignUp(code_.registerBytes, bytes == 0 ? 4 : 64));
  code_.registerBytes = at + size;
  return at;
}

} // namespace tenon::emulator
