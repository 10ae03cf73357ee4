// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan in words, a line per step: "4: Store.global 4/4 <- a 1" is instruction 4, which stores 4 bytes in elements of
// 4, a number, at the pointer `a`. Sources behind the arrow are registers, or what is known of them: a role for each
// slot that may go into them ("a" alone is `plus`), "1" for a number, "?" for nothing yet.
#pragma once

#include "linker/access/plan/plan_builder.h"
#include "ptx/parse/parser.h"

#include <gtest/gtest.h>

#include <map>

namespace tenon::linker::testing {

inline std::string slotName(uint32_t slot) {
  constexpr std::string_view kAsked[] = {"a", "b", "n", "m"};
  switch (slot) {
  case kFurtherSlots:
    return "further";
  case kParamMemory:
    return "param";
  case kLocalMemory:
    return "local";
  case kSharedMemory:
    return "shared";
  case kModuleMemory:
    return "module";
  case kForeign:
    return "foreign";
  default:
    return slot < std::size(kAsked) ? std::string(kAsked[slot]) : concat("slot", slot);
  }
}

inline std::string inWords(const Origins &value) {
  if (!value.isKnown())
    return "?";
  if (value == Origins::number())
    return "1";
  std::string words;
  for (uint32_t slot = 0; slot < 64; ++slot) {
    if (!(value.involved() & slotBit(slot))) {
      if (!(value.none & slotBit(slot)))
        words += concat(words.empty() ? "" : "+", slotName(slot), ":?");
      continue;
    }
    std::string roles;
    const std::pair<uint64_t, std::string_view> all[] = {
        {value.none, "none"}, {value.plus, "plus"},   {value.minus, "minus"}, {value.mixed, "mixed"},
        {value.few, "few"},   {value.index, "index"}, {value.near, "near"},   {value.part, "part"}};
    for (const auto &[slots, name] : all)
      if (slots & slotBit(slot))
        roles += concat(roles.empty() ? "" : "|", name);
    words += concat(words.empty() ? "" : "+", slotName(slot), roles == "plus" ? "" : ":" + roles);
  }
  return words;
}

inline std::string_view spaceName(ptx::StateSpace space) {
  constexpr std::string_view kNames[] = {"generic", "reg",   "sreg",   "const", "global",
                                         "local",   "param", "shared", "tex"};
  return kNames[static_cast<size_t>(space)];
}

/// The plan of the last function of a module.
class PlanOf {
public:
  explicit PlanOf(std::string_view text, const ParameterSlots &slots = slotPerParameter({true, true, false})) {
    Diagnostics diagnostics;
    module_ = ptx::parse(std::make_shared<const SourceFile>("k.ptx", std::string(text)), diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.toString();
    const ptx::Function &function = module_.functions.back();
    PlanBuilder builder;
    builder.run(module_, function, ptx::ModuleNames(module_), function.isEntry ? slots : ParameterSlots(), plan);
    for (uint32_t i = 0; i < function.instructions.size(); ++i)
      nameRegisters(function.instructions[i], builder.uses().namesOf(i));
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Step &step : plan.steps)
      lines.push_back(line(step));
    return lines;
  }
  std::vector<StepKind> kinds() const {
    std::vector<StepKind> kinds;
    for (const Step &step : plan.steps)
      kinds.push_back(step.kind);
    return kinds;
  }
  std::vector<std::string> undefined() const {
    std::vector<std::string> names;
    for (uint32_t reg : plan.undefined)
      names.push_back(registers_.at(reg));
    return names;
  }
  Plan plan;

private:
  void nameRegisters(const ptx::Instruction &instruction, std::span<const ptx::NameRef> refs) {
    const ptx::NameRef *next = refs.data();
    auto add = [&](std::string_view name) {
      const ptx::NameRef &ref = *next++;
      if (ref.kind == ptx::NameRef::Kind::Register)
        registers_[ref.index] = std::string(name);
    };
    auto walk = [&](auto &self, const ptx::Operand &operand) -> void {
      if (operand.kind == ptx::Operand::Kind::Name)
        add(operand.name);
      for (const ptx::Operand &element : operand.elements)
        self(self, element);
    };
    if (!instruction.predicate.empty())
      add(instruction.predicate);
    for (const ptx::Operand &operand : instruction.operands)
      walk(walk, operand);
  }
  std::string value(uint32_t number) const {
    return number < plan.registerCount ? registers_.at(number) : inWords(plan.constants[number - plan.registerCount]);
  }
  std::string line(const Step &step) const {
    constexpr std::string_view kKinds[] = {"Compute",    "SetCarry",     "AddCarry",     "TestLowBits", "Steer",
                                           "LoadCell",   "StoreCell",    "TakeCell",     "Load",        "Store",
                                           "Atomic",     "CopyToGlobal", "CopyToShared", "StoreToMap",  "SharedProduct",
                                           "TensorLoad", "TensorStore",  "Unknown",      "Call"};
    constexpr std::string_view kCombine[] = {"Join",   "Sum",     "Difference", "MultiplyAdd", "Scale",
                                             "Adjust", "Mix",     "Blend",      "Shift",       "Pack",
                                             "Select", "Shuffle", "Extreme",    "Equal",       "Within"};
    constexpr std::string_view kFinish[] = {"Keep", "Truncate", "LowByte", "LowIndex", "Narrow", "Index", "Gather"};
    std::string text = concat(step.instruction, ": ", kKinds[static_cast<size_t>(step.kind)]);
    const bool isCell = step.kind == StepKind::LoadCell || step.kind == StepKind::StoreCell;
    const bool isAccess = step.kind >= StepKind::Load && step.kind <= StepKind::StoreToMap;
    if (step.kind == StepKind::Compute)
      text += concat(" ", kCombine[static_cast<size_t>(step.transfer.combine)], "/",
                     kFinish[static_cast<size_t>(step.transfer.finish)]);
    if (isAccess)
      text += concat(".", spaceName(step.space), step.nonCoherent ? ".nc " : " ", step.bytes, "/", step.element);
    if (isCell || step.kind == StepKind::TakeCell)
      text += concat(" cell ", step.cell);
    if (isCell)
      text += concat("+", step.offset, ":", step.bytes);
    for (uint32_t i = 0; i < step.results; ++i)
      text += concat(" ", value(plan.values[step.first + i]));
    if (step.sources)
      text += " <-";
    for (uint32_t i = 0; i < step.sources; ++i)
      text += concat(" ", value(plan.values[step.first + step.results + i]));
    return concat(text, step.predicated ? " if" : "", step.late ? " late" : "", step.mayBeBlank ? " blank" : "");
  }

  ptx::Module module_;
  std::map<uint32_t, std::string> registers_;
};

/// A kernel `k(.u64 a, .u64 b, .u32 n)` in which %rd1 is a, %rd2 is b and %r1 is n, after three instructions.
inline std::string planned(std::string_view body, std::string_view before = "") {
  constexpr std::string_view kHead = ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
                                     ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<30>;\n"
                                     ".reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b128 %q<4>;\n"
                                     "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n];\n";
  return concat(".version 8.6\n.target sm_90\n.address_size 64\n", before, kHead, body, "\nret;\n}\n");
}

using Lines = std::vector<std::string>;
inline Lines linesOf(std::string_view body, std::string_view before = "") {
  return PlanOf(planned(body, before)).lines();
}
inline void expectLines(std::string_view body, const Lines &wanted, std::string_view before = "") {
  EXPECT_EQ(linesOf(body, before), wanted) << body;
}

} // namespace tenon::linker::testing
