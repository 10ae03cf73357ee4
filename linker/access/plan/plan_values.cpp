// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that compute. Where every operand is known, so is the result, and there is no step.
#include "linker/access/plan/plan_builder.h"

#include <algorithm>

namespace tenon::linker {

constexpr uint64_t kLargestAlignmentMask = 4095; // `and` with it asks where an address is aligned (K-14)

/// What a name or a number is known to stand for; kUnknown for all else. `name` goes on to the next one.
OriginTable::Id PlanBuilder::knownOperand(uint32_t operand, const ptx::NameRef *&name) {
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
bool PlanBuilder::defineFromKnown() {
  const Effect effect = form_->effect.effect;
  const uint32_t operands = static_cast<uint32_t>(instruction_->operands.size());
  const ptx::NameRef *name = nextName_;
  if (operands < 2 || operands > 5 || instruction_->operands[0].kind != ptx::Operand::Kind::Name ||
      name->kind != ptx::NameRef::Kind::Register || !name->isDefinition)
    return false;
  const uint32_t result = name++->index;
  const bool mayAssume = known_.hasOneDefinition(result) || mayRepeat(*form_, *instruction_);
  if (effect == Effect::Number)
    return known_.define(result, OriginTable::kNumber, mayAssume);
  if (!ptx::isComputed(effect) || effect == Effect::Carry)
    return false;
  OriginTable::Id known[5] = {};
  bool areNumbers = true;
  for (uint32_t i = 1; i < operands; ++i) {
    if ((known[i] = knownOperand(i, name)) == OriginTable::kUnknown)
      return false;
    areNumbers &= known[i] == OriginTable::kNumber;
  }
  if (areNumbers && effect != Effect::ToAddress)
    return known_.define(result, OriginTable::kNumber, mayAssume);
  if (!whole_.empty() && operands == 2 && (effect == Effect::Copy || effect == Effect::ToAddress) &&
      nextName_[1].kind == ptx::NameRef::Kind::Register)
    followWholePointer();
  // It may be the address of a place, a mask that K-14 asks for, half a pointer, or set the carry flag.
  if (effect == Effect::ToAddress || effect == Effect::Mask || form_->setsCarry ||
      (effect == Effect::Shuffle && !halves_.empty()))
    return false;
  if (effect == Effect::Copy || effect == Effect::Sum || effect == Effect::Convert) {
    if (!halves_.empty())
      return false;
    for (uint32_t i = 1; i < operands; ++i)
      if (known_.table[known[i]].involved() & kPrivateBits)
        return false;
  }
  if ((effect == Effect::Compare || effect == Effect::IsAddress) && comparesWholePointers())
    return known_.define(result, OriginTable::kNumber, mayAssume);
  Transfer transfer = form_->transfer;
  uint32_t first = 1, count = operands - 1, step = 1;
  if (mayBeRefined(effect) || (mayScale(effect) && known_.table.hasIndices()))
    if (const std::optional<Refined> found = refined()) {
      transfer = found->transfer;
      first = found->source;
      count = found->addend ? 2 : 1;
      step = found->addend - first;
    }
  if (effect == Effect::Compare && comparesPlacesAhead())
    transfer.combine = Combine::Equal;
  auto source = [&](uint32_t i) { return known[first + i * step]; };
  const OriginTable::Id value = evaluate(transfer, count, source, known_.table);
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
      step = begin(StepKind::Compute);
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

/// Results from sources, in the order that `transfer` expects.
void PlanBuilder::compute(Transfer transfer, std::span<const PlannedValue> sources, std::span<const Leaf> leaves) {
  if (sources.empty())
    return defineAs(OriginTable::kNumber, leaves);
  const bool areKnown = std::ranges::all_of(sources, &PlannedValue::isKnown);
  if (areKnown) {
    const auto count = static_cast<uint32_t>(sources.size());
    return defineAs(evaluate(transfer, count, [&](uint32_t i) { return sources[i].id(); }, known_.table), leaves);
  }
  const bool isCommutative =
      transfer.combine == Combine::Sum || transfer.combine == Combine::Blend || transfer.combine == Combine::Mix;
  rest_.clear();
  for (PlannedValue source : sources) // a number does nothing to these
    if (!isCommutative || !source.isKnown() || source.id() != OriginTable::kNumber)
      rest_.push_back(source);
  Step step = begin(StepKind::Compute);
  step.transfer = transfer;
  finish(step, rest_, leaves);
}

void PlanBuilder::addComputed() {
  const Effect effect = form_->effect.effect;
  const uint32_t operands = static_cast<uint32_t>(instruction_->operands.size());
  if (effect == Effect::Sum || effect == Effect::ToAddress || effect == Effect::Convert)
    if (defineAsPlace(followPlace()))
      return;
  if (effect == Effect::Mask)
    addTestOfLowBits();
  sourcesOf(0, operands);
  if (form_->setsCarry)
    addCarryOut(sources_);
  if (effect == Effect::Carry) {
    return finish(begin(StepKind::AddCarry), sources_);
  }
  if (effect == Effect::ToAddress && form_->transfer.combine == Combine::Within)
    sources_.push_back(valueOf(form_->effect.space));
  if (effect == Effect::Shuffle && addMovedHalf(std::span(sources_).subspan(std::min<size_t>(1, sources_.size()))))
    return;
  if ((effect == Effect::Compare || effect == Effect::IsAddress) && comparesWholePointers())
    return defineAs(OriginTable::kNumber);
  if (effect == Effect::Compare && comparesPlacesAhead())
    return compute({Combine::Equal, Finish::Narrow}, sources_, leaves_);
  if (mayBeRefined(effect) || mayScale(effect))
    if (const std::optional<Refined> found = refined()) {
      sourcesOf(found->source, found->source + 1);
      if (found->addend)
        addSourcesOf(found->addend, found->addend + 1);
      return compute(found->transfer, sources_, leaves_);
    }
  compute(form_->transfer, sources_, leaves_);
}

/// K-14: a kernel that looks at the low bits of a pointer takes care of its alignment.
void PlanBuilder::addTestOfLowBits() {
  const bool testsLowBits = std::any_of(leaves_.begin(), leaves_.end(), [](const Leaf &leaf) {
    return leaf.isImmediate && leaf.bits <= kLargestAlignmentMask;
  });
  if (!testsLowBits)
    return;
  const std::span<const PlannedValue> sources = sourcesOf(1, 3);
  const bool mayBePointer = std::ranges::any_of(sources, [this](PlannedValue source) {
    const Origins known = source.isKnown() ? known_.table[source.id()] : Origins();
    return !source.isKnown() || ((known.plus | known.mixed) & kParameterBits);
  });
  if (mayBePointer)
    finish(begin(StepKind::TestLowBits), sources, {});
}

/// mov: as it is, or halves of a register taken apart or put together. Registers of 128 bits hold whole values side by
/// side.
void PlanBuilder::addMove() {
  constexpr uint32_t kWidest = 16;
  const ptx::List<ptx::Operand> &operands = instruction_->operands;
  const uint32_t bytes = form_->width.element;
  const bool splits = operands.size() == 2 && operands[0].kind == ptx::Operand::Kind::Vector;
  const bool packs = operands.size() == 2 && operands[1].kind == ptx::Operand::Kind::Vector;
  if (defineAsPlace(followPlace()))
    return;
  if (bytes >= kWidest || (!splits && !packs)) {
    if (!splits && addMovedHalf({}))
      return;
    Transfer transfer = form_->transfer;
    if (operands.size() == 2 && operands[1].offset != 0)
      transfer.combine = Combine::Sum;
    return compute(transfer, sourcesOf(1, static_cast<uint32_t>(operands.size())), leaves_);
  }
  if (packs)
    return addJoinedHalves() ? void() : compute({Combine::Pack, Finish::Keep}, sourcesOf(1, 2), leaves_);
  const size_t count = operands[0].elements.size();
  const std::vector<PlannedValue> whole(sourcesOf(1, 2).begin(), sourcesOf(1, 2).end());
  for (size_t i = 0; i < count && i < leaves_.size(); ++i) {
    const Leaf &leaf = leaves_[i];
    compute(i == 0 ? Transfer{Combine::Join, Finish::Truncate} : Transfer{Combine::Blend, Finish::Keep}, whole,
            {&leaf, 1});
    const bool isLasting = whole.size() == 1 && (whole[0].isKnown() || known_.hasOneDefinition(whole[0].reg()));
    if (bytes == 8 && count == 2 && isLasting && leaf.isResult() && known_.hasOneDefinition(leaf.ref.index) &&
        instruction_->predicate.empty())
      halves_.add({.reg = leaf.ref.index,
                   .split = current_,
                   .isUpper = i == 1,
                   .block = plan_->flow.blockOf[current_],
                   .whole = whole[0]});
  }
}

/// Half of a value in another register, or from another thread, which numbers (`others`) choose. Whether it is one.
bool PlanBuilder::addMovedHalf(std::span<const PlannedValue> others) {
  if (halves_.empty() || leaves_.size() < 2 || !instruction_->predicate.empty())
    return false;
  const Leaf &result = leaves_[0];
  const auto source = std::ranges::find(leaves_, 1u, &Leaf::operand);
  if (source == leaves_.end() || !source->isRegister() || !result.isResult() ||
      !known_.hasOneDefinition(result.ref.index))
    return false;
  std::optional<Half> half = halves_.find(source->ref.index);
  const uint32_t block = plan_->flow.blockOf[current_];
  if (!half || !half->isFreshIn(block))
    return false;
  half->block = block;
  const bool isShuffle = form_->effect.effect == Effect::Shuffle;
  if (isShuffle) {
    auto mix = [&half](uint64_t value) { half->moves = (half->moves ^ value) * 0x9e3779b97f4a7c15; };
    mix(block + 1);
    mix(plan_->calls.size()); // in between, threads may end in a function
    mix(instruction_->spelling);
    for (const Leaf &leaf : leaves_) {
      if (leaf.operand < 2)
        continue;
      if (!leaf.isImmediate && (!leaf.isRegister() || !known_.hasOneDefinition(leaf.ref.index)))
        return false;
      mix(leaf.isImmediate ? leaf.bits : leaf.ref.index);
    }
    for (PlannedValue other : others)
      if (!other.isKnown() || other.id() != OriginTable::kNumber)
        return false;
  }
  half->reg = result.ref.index;
  halves_.add(*half);
  return false; // the half itself is computed as any other value
}

/// Both halves of one value: it is that value again.
bool PlanBuilder::addJoinedHalves() {
  if (halves_.empty() || leaves_.size() != 3 || form_->width.element != 8 || !leaves_[1].isRegister() ||
      !leaves_[2].isRegister())
    return false;
  const std::optional<Half> lower = halves_.find(leaves_[1].ref.index), upper = halves_.find(leaves_[2].ref.index);
  const uint32_t block = plan_->flow.blockOf[current_];
  if (!lower || !upper || lower->isUpper || !lower->belongsTo(*upper) || !lower->isFreshIn(block) ||
      !upper->isFreshIn(block))
    return false;
  compute({Combine::Join, Finish::Keep}, {&lower->whole, 1}, leaves_);
  return true;
}

// The carry flag ------------------------------------------------------------------------------------------------------

/// One bit, of which every sum with .cc may have left it.
void PlanBuilder::addCarryOut(std::span<const PlannedValue> sources) {
  finish(begin(StepKind::SetCarry), sources, {});
}

} // namespace tenon::linker
