// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/named_numbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

constexpr StringLiteral kEnd = "__";

/// INDEX, and LEAST and MOST of integers. @param name without what a reciprocal has in front of them
SmallVector<int64_t, 3> partsOf(StringRef name) {
  SmallVector<StringRef, 3> texts;
  name.drop_front(kNumberPrefix.size()).drop_back(kEnd.size()).split(texts, '_');
  SmallVector<int64_t, 3> parts;
  for (StringRef text : texts)
    // Names of PTX have no signs.
    parts.push_back(text.consume_front("m") ? -std::stoll(text.str()) : std::stoll(text.str()));
  return parts;
}

std::string signless(int64_t value) {
  return value < 0 ? ("m" + Twine(-value)).str() : std::to_string(value);
}

/// The `mov` of a name, in front of an instruction.
CallInst *moveName(Instruction &before, Type *type, StringRef name) {
  IRBuilder<> b(&before);
  const bool isWide = type->isIntegerTy(64);
  const char *registers = type->isFloatTy() ? "=f" : isWide ? "=l" : "=r";
  auto *text = InlineAsm::get(FunctionType::get(type, false),
                              ("mov.b" + Twine(isWide ? 64 : 32) + " $0, " + name + ";").str(), registers,
                              /*hasSideEffects=*/false);
  CallInst *moved = b.CreateCall(text);
  moved->setDoesNotAccessMemory();
  moved->setDoesNotThrow();
  return moved;
}

void load(CallInst &call, StringRef name) {
  Type *type = call.getType();
  CallInst *loaded = moveName(call, type, name);
  if (!type->isFloatTy()) {
    const SmallVector<int64_t, 3> parts = partsOf(name);
    const unsigned bits = type->getIntegerBitWidth();
    const APInt least(bits, uint64_t(parts[1]), /*isSigned=*/true, /*implicitTrunc=*/true);
    const APInt behind(bits, uint64_t(parts[2]) + 1, /*isSigned=*/true, /*implicitTrunc=*/true);
    if (least != behind)
      loaded->addRangeRetAttr(ConstantRange(least, behind));
  }
  call.replaceAllUsesWith(loaded);
  call.eraseFromParent();
}

/// Which positive number the value is, perhaps in fewer bits; nothing: none that has a name.
std::optional<int64_t> indexOf(Value *value) {
  while (isa<TruncInst, FreezeInst>(value))
    value = cast<Instruction>(value)->getOperand(0);
  auto *call = dyn_cast<CallInst>(value);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!text)
    return std::nullopt;
  const StringRef assembly = text->getAsmString();
  const size_t at = assembly.find(kNumberPrefix);
  if (at == StringRef::npos || !isDigit(assembly[at + kNumberPrefix.size()]))
    return std::nullopt;
  const SmallVector<int64_t, 3> parts = partsOf(assembly.slice(at, assembly.rfind(';')));
  return parts.size() == 3 && parts[1] > 0 && parts[2] <= UINT32_MAX ? std::optional(parts[0]) : std::nullopt;
}

void divide(BinaryOperator &division, int64_t index) {
  Type *type = division.getType();
  const unsigned bits = type->getIntegerBitWidth();
  Value *x = division.getOperand(0), *by = division.getOperand(1);
  Value *reciprocal = moveName(division, type, (kNumberPrefix + "r" + Twine(bits) + "_" + Twine(index) + kEnd).str());
  IRBuilder<> b(&division);
  Value *quotient =
      b.CreateIntrinsic(type, bits == 32 ? Intrinsic::nvvm_mulhi_ui : Intrinsic::nvvm_mulhi_ull, {x, reciprocal});
  Value *rest = b.CreateSub(x, b.CreateMul(quotient, by));
  Value *isRight = b.CreateICmpULT(rest, by);
  Value *result = division.getOpcode() == Instruction::UDiv
                      ? b.CreateSelect(isRight, quotient, b.CreateAdd(quotient, ConstantInt::get(type, 1)))
                      : b.CreateSelect(isRight, rest, b.CreateSub(rest, by));
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
}

} // namespace

std::string nameOfNumber(size_t index, int64_t least, int64_t most) {
  return (kNumberPrefix + Twine(index) + "_" + signless(least) + "_" + signless(most) + kEnd).str();
}

std::string nameOfFloat(size_t index) {
  return (kNumberPrefix + Twine(index) + kEnd).str();
}

void loadNamedNumbers(Module &device) {
  for (Function &function : make_early_inc_range(device)) {
    if (!function.getName().starts_with(kNumberPrefix))
      continue;
    for (User *user : make_early_inc_range(function.users()))
      load(*cast<CallInst>(user), function.getName());
    function.eraseFromParent();
  }
}

void divideByNamedNumbers(Module &device) {
  for (Function &function : device)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *division = dyn_cast<BinaryOperator>(&instruction);
      if (!division || (division->getOpcode() != Instruction::UDiv && division->getOpcode() != Instruction::URem) ||
          !(division->getType()->isIntegerTy(32) || division->getType()->isIntegerTy(64)))
        continue;
      if (const std::optional<int64_t> index = indexOf(division->getOperand(1)))
        divide(*division, *index);
    }
}

std::string withNumbers(StringRef text, ArrayRef<std::string> numbers) {
  std::string result;
  result.reserve(text.size());
  for (size_t at; (at = text.find(kNumberPrefix)) != StringRef::npos;) {
    result += text.take_front(at);
    text = text.drop_front(at + kNumberPrefix.size());
    const auto [name, rest] = text.split(kEnd);
    text = rest;
    if (!name.starts_with("r")) {
      result += numbers[size_t(std::stoull(name.split('_').first.str()))];
      continue;
    }
    const auto [bits, index] = name.drop_front().split('_');
    const uint64_t most = bits == "32" ? UINT32_MAX : UINT64_MAX;
    result += std::to_string(most / std::stoull(numbers[size_t(std::stoull(index.str()))]));
  }
  return result += text;
}

} // namespace tenon::compiler::codegen
