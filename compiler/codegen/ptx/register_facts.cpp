// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/register_facts.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

namespace tenon::compiler::codegen {
namespace {

/// Names that an operand has, as DefUse lists them.
size_t countNames(const ptx::Operand &operand) {
  size_t count = operand.kind == ptx::Operand::Kind::Name;
  for (const ptx::Operand &element : operand.elements)
    count += countNames(element);
  return count;
}

/// In the bits of a type: f16, f32, f64.
std::optional<double> valueOf(uint64_t bits, ptx::ScalarType type) {
  const llvm::fltSemantics *format = type == ptx::ScalarType::F16   ? &llvm::APFloat::IEEEhalf()
                                     : type == ptx::ScalarType::F32 ? &llvm::APFloat::IEEEsingle()
                                     : type == ptx::ScalarType::F64 ? &llvm::APFloat::IEEEdouble()
                                                                    : nullptr;
  if (!format)
    return std::nullopt;
  const llvm::APInt value(llvm::APFloat::semanticsSizeInBits(*format), bits, false, /*implicitTrunc=*/true);
  return llvm::APFloat(*format, value).convertToDouble();
}

/// One number in floating point.
bool isFloatingType(ptx::ScalarType type) {
  return type == ptx::ScalarType::F16 || type == ptx::ScalarType::BF16 || ptx::isSingleOrDouble(type);
}

/// Of 16 bits, alone or in pairs.
bool isNarrowInteger(ptx::ScalarType type) {
  return type == ptx::ScalarType::S16 || type == ptx::ScalarType::U16 || type == ptx::ScalarType::S16x2 ||
         type == ptx::ScalarType::U16x2;
}

/// What gives an operand as it is, or with another sign.
bool isCopy(std::string_view opcode) {
  return opcode == "mov" || opcode == "selp" || opcode == "neg" || opcode == "abs";
}

} // namespace

unsigned bitsOfType(ptx::ScalarType type) {
  return type == ptx::ScalarType::Pred ? 0 : 8 * ptx::byteSize(type);
}

ptx::ScalarType typeOfResult(const ptx::Instruction &instruction) {
  for (std::string_view modifier : instruction.modifiers)
    if (const ptx::ScalarType type = ptx::parseScalarType(modifier); type != ptx::ScalarType::None)
      return type;
  return ptx::ScalarType::None;
}

ptx::ScalarType lastType(const ptx::Instruction &instruction) {
  return instruction.modifiers.empty() ? ptx::ScalarType::None : ptx::parseScalarType(instruction.modifiers.back());
}

RegisterFacts::RegisterFacts(const ptx::Function &function, const ptx::DefUse &uses)
    : function_(&function), uses_(&uses), facts_(uses.registerCount) {
  for (int round = 0; round < 2; ++round) // a loop's registers are written behind where they are read
    for (uint32_t i = 0; i < function.instructions.size(); ++i)
      follow(i);
}

uint32_t RegisterFacts::nameOf(uint32_t instruction, size_t k, std::optional<size_t> element) const {
  const ptx::Instruction &of = function_->instructions[instruction];
  if (k >= of.operands.size() || (element && *element >= of.operands[k].elements.size()))
    return kNone;
  const ptx::Operand &operand = element ? of.operands[k].elements[*element] : of.operands[k];
  if (operand.kind != ptx::Operand::Kind::Name)
    return kNone;
  size_t name = !of.predicate.empty();
  for (size_t before = 0; before < k; ++before)
    name += countNames(of.operands[before]);
  for (size_t before = 0; element && before < *element; ++before)
    name += countNames(of.operands[k].elements[before]);
  const std::span<const ptx::NameRef> names = uses_->namesOf(instruction);
  return names[name].kind == ptx::NameRef::Kind::Register ? names[name].index : kNone;
}

uint32_t RegisterFacts::registerOf(uint32_t instruction, size_t k) const {
  return nameOf(instruction, k, std::nullopt);
}
uint32_t RegisterFacts::registerOf(uint32_t instruction, size_t k, size_t element) const {
  return nameOf(instruction, k, element);
}

std::optional<double> RegisterFacts::constantOf(uint32_t instruction, size_t k) const {
  const ptx::Instruction &of = function_->instructions[instruction];
  const ptx::Operand &operand = of.operands[k];
  if (operand.kind == ptx::Operand::Kind::Float32 || operand.kind == ptx::Operand::Kind::Float64)
    return valueOf(operand.bits,
                   operand.kind == ptx::Operand::Kind::Float32 ? ptx::ScalarType::F32 : ptx::ScalarType::F64);
  const uint32_t number = registerOf(instruction, k);
  return number == kNone || !facts_[number].constant ? std::nullopt
                                                     : valueOf(*facts_[number].constant, typeOfResult(of));
}

std::optional<size_t> RegisterFacts::boundOf(uint32_t instruction) const {
  const ptx::Instruction &of = function_->instructions[instruction];
  if (of.opcode != "min" || of.operands.size() != 3 || of.hasModifier("NaN") || of.hasModifier("xorsign"))
    return std::nullopt;
  for (size_t k : {2, 1})
    if (const std::optional<double> bound = constantOf(instruction, k); bound && *bound >= 1)
      return k;
  return std::nullopt;
}

std::optional<size_t> RegisterFacts::clampOf(uint32_t instruction) const {
  const uint32_t number = registerOf(instruction, 0);
  return number != kNone && facts_[number].isBounded && facts_[number].isPositive ? boundOf(instruction) : std::nullopt;
}

void RegisterFacts::follow(uint32_t instruction) {
  const ptx::Instruction &of = function_->instructions[instruction];
  if (of.operands.size() < 2 || !ptx::writesFirstOperand(of))
    return;
  takesSignedExtremes_ |= (of.opcode == "max" || of.opcode == "min" || of.opcode == "abs") && // written as one
                          lastType(of) == ptx::ScalarType::S32;
  takesNarrowExtremes_ |= (of.opcode == "max" || of.opcode == "min") && isNarrowInteger(lastType(of));
  if (of.opcode == "max" && of.operands.size() == 3 && !of.hasModifier("NaN"))
    for (size_t k : {1, 2})
      if (const std::optional<double> bound = constantOf(instruction, k); bound && *bound == 0)
        if (const uint32_t other = registerOf(instruction, 3 - k); other != kNone)
          facts_[other].isPositive = true;
  // Of a vector load every element, of other vectors (halves of a word) none.
  const bool isLoad = of.opcode == "ld", isVector = of.operands[0].kind == ptx::Operand::Kind::Vector;
  for (size_t element = 0, count = !isVector ? 1
                                   : isLoad  ? of.operands[0].elements.size()
                                             : 0;
       element < count; ++element) {
    const uint32_t result = isVector ? registerOf(instruction, 0, element) : registerOf(instruction, 0);
    if (result == kNone)
      continue;
    Facts &facts = facts_[result];
    facts.isFloating |= isFloatingType(typeOfResult(of));
    if (of.opcode == "mov" && of.operands[1].kind == ptx::Operand::Kind::Integer && bitsOfRegister(result) == 16)
      facts.constant = of.operands[1].bits;
    facts.isBounded |= boundOf(instruction).has_value();
    if (bitsOfRegister(result) != 32)
      continue;
    const unsigned from = bitsOfType(lastType(of));
    facts.isExtended |= (isLoad || of.opcode == "cvt") && from != 0 && from < 32;
    for (size_t k = 1; isCopy(of.opcode) && k < of.operands.size(); ++k)
      facts.isExtended |= isExtended(registerOf(instruction, k));
  }
}

} // namespace tenon::compiler::codegen
