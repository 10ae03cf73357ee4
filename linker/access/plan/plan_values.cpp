// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that compute. Where every operand is known, so is the result, and there is no step; where some are, they
// go into the step as one constant.
#include "linker/access/plan/plan_builder.h"

#include <algorithm>

namespace tenon::linker {

constexpr uint64_t kLargestLowBitMask = 4095; // what is left of an address under it says where it is aligned, no more

/// What a name or a number is known to stand for; kUnknown for all else. `name` goes on to the next one.
OriginTable::Id PlanBuilder::knownOperand(uint32_t operand, const ptx::NameRef *&name) const {
  switch (instruction_->operands[operand].kind) {
  case ptx::Operand::Kind::Integer:
  case ptx::Operand::Kind::Float32:
  case ptx::Operand::Kind::Float64:
    return OriginTable::kNumber;
  case ptx::Operand::Kind::Name: {
    const ptx::NameRef &ref = *name++;
    if (ref.kind == ptx::NameRef::Kind::Register)
      return known_.peek(ref.index);
    return ref.kind == ptx::NameRef::Kind::Other ? OriginTable::kNumber : OriginTable::kUnknown;
  }
  case ptx::Operand::Kind::Vector:
  case ptx::Operand::Kind::List:
  case ptx::Operand::Kind::Address:
  case ptx::Operand::Kind::Pair:
  case ptx::Operand::Kind::Sink:
    return OriginTable::kUnknown;
  }
}

/// Sums of floating-point numbers begin with a zero, and go on with what memory holds: nothing is assumed of them.
static bool mayRepeat(const Form &form, const ptx::Instruction &instruction) {
  return !form.isFloat &&
         (instruction.operands.size() != 2 || (instruction.operands[1].kind != ptx::Operand::Kind::Float32 &&
                                               instruction.operands[1].kind != ptx::Operand::Kind::Float64));
}

/// The short way, which most instructions go: one register is computed from plain operands that are all known. False
/// where it leads nowhere, and then nothing has happened.
bool PlanBuilder::defineFromKnown(const EffectOf &effect) {
  const uint32_t operands = static_cast<uint32_t>(instruction_->operands.size());
  const ptx::NameRef *name = nextName_;
  if (operands < 2 || operands > 5 || instruction_->operands[0].kind != ptx::Operand::Kind::Name ||
      name->kind != ptx::NameRef::Kind::Register || !name->isDefinition)
    return false;
  const uint32_t result = name++->index;
  const bool mayAssume = known_.hasOneDefinition(result) || mayRepeat(*form_, *instruction_);
  if (effect.effect == Effect::Number)
    return known_.define(result, OriginTable::kNumber, mayAssume);
  if (effect.effect > Effect::Scale)
    return false;
  OriginTable::Id known[5] = {};
  for (uint32_t i = 1; i < operands; ++i)
    if ((known[i] = knownOperand(i, name)) == OriginTable::kUnknown)
      return false;
  OriginTable &table = known_.table;
  OriginTable::Id value = OriginTable::kNumber;
  switch (effect.effect) {
  case Effect::Copy: {
    if (plan_->firstLocalCell != plan_->cellCount)
      return false; // it may be the address of a place
    const uint32_t from = effect.sources ? effect.firstSource : 1;
    const uint32_t to = effect.sources ? std::min<uint32_t>(from + effect.sources, operands) : operands;
    value = OriginTable::kUnknown;
    for (uint32_t i = from; i < to; ++i)
      value = table.join(value, known[i]);
    break;
  }
  case Effect::Sum:
    if (plan_->firstLocalCell != plan_->cellCount)
      return false;
    for (uint32_t i = 1; i < operands; ++i)
      value = table.sum(value, known[i]);
    break;
  case Effect::Scale:
    for (uint32_t i = 1; i < operands; ++i)
      value = table.sum(value, table.scaled(known[i]));
    break;
  case Effect::Difference:
    if (operands != 3)
      return false;
    value = table.difference(known[1], known[2]);
    break;
  case Effect::MultiplyAdd:
    if (operands != 4)
      return false;
    value = table.sum(table.sum(table.scaled(known[1]), table.scaled(known[2])), known[3]);
    break;
  default:
    return false;
  }
  return value != OriginTable::kUnknown && known_.define(result, value, mayAssume);
}

void PlanBuilder::defineAs(OriginTable::Id value, std::span<const Leaf> leaves) {
  Step step;
  for (const Leaf &leaf : leaves) {
    if (!leaf.isResult())
      continue;
    const bool mayAssume = known_.hasOneDefinition(leaf.ref.index) || mayRepeat(*form_, *instruction_);
    if (known_.define(leaf.ref.index, value, mayAssume))
      continue;
    if (step.results == 0) {
      step = begin(StepKind::Copy);
      step.first = static_cast<uint32_t>(plan_->values.size());
    }
    addResult(step, leaf.ref.index);
  }
  if (step.results == 0)
    return;
  const PlannedValue source = PlannedValue::known(value);
  addSources(step, {&source, 1});
  plan_->steps.push_back(step);
}

/// What is known of the sources becomes one value, from `nothing` on; the step keeps the others, and that value behind
/// them. `one` is the kind of a step that is left with a single source.
template <typename Sources, typename Add>
void PlanBuilder::addFolded(const Sources &sources, OriginTable::Id nothing, Add add, StepKind kind, StepKind one) {
  OriginTable::Id known = nothing;
  rest_.clear();
  for (PlannedValue source : sources)
    if (source.isKnown())
      known = add(known, source.id());
    else
      rest_.push_back(source);
  if (rest_.empty())
    return defineAs(known);
  if (known != nothing)
    rest_.push_back(PlannedValue::known(known));
  finish(begin(rest_.size() == 1 ? one : kind), rest_);
}

void PlanBuilder::addCopy(const EffectOf &effect) {
  followLocalAddress();
  const uint32_t from = effect.sources ? effect.firstSource : 1;
  const uint32_t to = effect.sources ? from + effect.sources : static_cast<uint32_t>(instruction_->operands.size());
  auto join = [this](OriginTable::Id a, OriginTable::Id b) { return known_.table.join(a, b); };
  addFolded(sourcesOf(from, to), OriginTable::kUnknown, join, StepKind::Copy, StepKind::Copy);
}

void PlanBuilder::addSum(std::span<const PlannedValue> sources) {
  auto sum = [this](OriginTable::Id a, OriginTable::Id b) { return known_.table.sum(a, b); };
  addFolded(sources, OriginTable::kNumber, sum, StepKind::Sum, StepKind::Copy);
}

void PlanBuilder::addScale(std::span<const PlannedValue> sources) {
  auto sum = [this](OriginTable::Id a, OriginTable::Id b) { return known_.table.sum(a, known_.table.scaled(b)); };
  addFolded(sources, OriginTable::kNumber, sum, StepKind::Scale, StepKind::Scale);
}

void PlanBuilder::addDifference() {
  const uint32_t operands = static_cast<uint32_t>(instruction_->operands.size());
  const std::span<const PlannedValue> sources = sourcesOf(1, operands);
  if (operands != 3 || sources.size() != 2)
    return addScale(sources);
  if (sources[0].isKnown() && sources[1].isKnown())
    return defineAs(known_.table.difference(sources[0].id(), sources[1].id()));
  finish(begin(StepKind::Difference), sources);
}

void PlanBuilder::addMultiplyAdd() {
  const uint32_t operands = static_cast<uint32_t>(instruction_->operands.size());
  const std::span<const PlannedValue> sources = sourcesOf(1, operands);
  if (operands != 4 || sources.size() != 3)
    return addScale(sources);
  if (!sources[0].isKnown() || !sources[1].isKnown())
    return finish(begin(StepKind::MultiplyAdd), sources);
  OriginTable &table = known_.table;
  sources_[0] = PlannedValue::known(table.sum(table.scaled(sources[0].id()), table.scaled(sources[1].id())));
  sources_[1] = sources_[2];
  addSum(std::span<const PlannedValue>(sources_).first(2));
}

void PlanBuilder::addMask() {
  const bool testsLowBits = std::any_of(leaves_.begin(), leaves_.end(), [](const Leaf &leaf) {
    return leaf.isImmediate && leaf.bits <= kLargestLowBitMask;
  });
  const std::span<const PlannedValue> sources = sourcesOf(1, 3);
  if (!testsLowBits)
    return addSum(sources);
  const bool mayBePointer = std::any_of(sources.begin(), sources.end(), [this](PlannedValue source) {
    return !source.isKnown() || (known_.table[source.id()].plus & kParameterBits);
  });
  if (mayBePointer)
    finish(begin(StepKind::TestLowBits), sources, {});
  defineAs(OriginTable::kNumber);
}

} // namespace tenon::linker
