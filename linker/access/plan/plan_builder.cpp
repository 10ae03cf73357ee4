// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/plan_builder.h"

#include <algorithm>

namespace tenon::linker {

using Kind = ptx::NameRef::Kind;

void PlanBuilder::run(const ptx::Module &module, const ptx::Function &function, const ptx::ModuleNames &names,
                      const ParameterSlots &slots, Plan &plan) {
  module_ = &module;
  function_ = &function;
  plan_ = &plan;
  slots_ = &slots;
  if (function.isEntry) {
    arguments_.resize(function.parameters.size());
    for (uint32_t i = 0; i < arguments_.size(); ++i)
      kernelArgument(slots, i, function.parameters[i].bytes(), arguments_[i]);
  }
  takesPlaces_ = function.isEntry && std::ranges::any_of(function.instructions, [](const ptx::Instruction &each) {
                   return each.facts.control == ptx::Control::Call;
                 });
  placeBits_ = kExact;
  for (uint32_t i = 0; i < kTrackedSlots; ++i)
    if (i >= slots.size() || slots[i].isMap)
      placeBits_ |= slotBit(i);
  known_.table.setSecrets(secretsOf(slots));
  uses_ = &useFinder_.run(function, names);
  flowBuilder_.run(function, plan.flow);
  parametersAreKnown_ = function.isEntry;
  known_.begin(*uses_, plan);
  planSteps();
  while (known_.assumedWrongly() || (parametersAreKnown_ && writesParameters_)) {
    parametersAreKnown_ = parametersAreKnown_ && !writesParameters_;
    known_.beginAgain();
    planSteps();
  }
}

void PlanBuilder::planSteps() {
  reset();
  numberCells();
  for (uint32_t number = 0; number < plan_->flow.blocks.size(); ++number) {
    const ptx::BasicBlock &block = plan_->flow.blocks[number];
    known_.enterBlock(number);
    plan_->firstStep.push_back(static_cast<uint32_t>(plan_->steps.size()));
    if (block.reachable)
      for (uint32_t i = block.begin; i < block.end; ++i)
        addInstruction(i);
  }
  plan_->firstStep.push_back(static_cast<uint32_t>(plan_->steps.size()));
  known_.findUndefined();
  findBlankReturns();
}

void PlanBuilder::reset() {
  plan_->function = static_cast<uint32_t>(function_ - module_->functions.data());
  plan_->parameterCount = static_cast<uint32_t>(function_->parameters.size());
  plan_->returnCount = static_cast<uint32_t>(function_->returns.size());
  plan_->registerCount = uses_->registerCount;
  plan_->constants.clear();
  plan_->severalDefinitions.assign(uses_->registerCount, false);
  plan_->steps.clear();
  plan_->firstStep.clear();
  plan_->values.clear();
  plan_->calls.clear();
  plan_->notes.assign(slots_->size(), SlotNote());
  plan_->tracked.clear();
  plan_->disagreeing.clear();
  plan_->undefined.clear();
  plan_->foreignSteer = kNoInstruction;
  plan_->placeSlots.clear();
  plan_->firstPlaceSlot = static_cast<uint32_t>(slots_->size());
  places_.clear();
  filled_.clear();
  stored_.clear();
  halves_.clear();
  whole_.clear();
  lookedAt_ = 0;
  writesParameters_ = false;
}

void PlanBuilder::numberCells() {
  plan_->cellBytes.clear();
  plan_->hasRegisterParameters = false;
  for (const std::vector<ptx::Variable> *variables : {&function_->parameters, &function_->returns})
    for (const ptx::Variable &variable : *variables) {
      plan_->cellBytes.push_back(variable.bytes());
      plan_->hasRegisterParameters |= variable.space == ptx::StateSpace::Reg;
    }
  cellOfDeclaration_.assign(function_->declarations.size(), UINT32_MAX);
  auto number = [this](ptx::StateSpace space) {
    for (size_t i = 0; i < function_->declarations.size(); ++i)
      if (const ptx::Variable &variable = function_->declarations[i];
          variable.space == space && (space != ptx::StateSpace::Shared || variable.bytes() != 0)) {
        cellOfDeclaration_[i] = static_cast<uint32_t>(plan_->cellBytes.size());
        plan_->cellBytes.push_back(variable.bytes());
      }
    return static_cast<uint32_t>(plan_->cellBytes.size());
  };
  plan_->firstPlaceCell = number(ptx::StateSpace::Param);
  plan_->firstSharedCell = number(ptx::StateSpace::Local);
  // A shared variable of another function is one for all its calls, which an instance does not know of.
  if (function_->isEntry)
    number(ptx::StateSpace::Shared);
  plan_->cellCount = static_cast<uint32_t>(plan_->cellBytes.size());
}

/// The names and numbers of operands, those of vectors, lists and addresses included, from left to right.
void PlanBuilder::addLeaves(const ptx::Operand &operand, uint32_t number) {
  if (operand.kind == ptx::Operand::Kind::Name) {
    leaves_.push_back({.ref = *nextName_++, .operand = number});
    return;
  }
  if (operand.elements.empty() && operand.kind != ptx::Operand::Kind::List)
    leaves_.push_back({.operand = number, .isImmediate = true, .bits = operand.bits});
  for (const ptx::Operand &element : operand.elements)
    if (element.kind == ptx::Operand::Kind::Name)
      leaves_.push_back({.ref = *nextName_++, .operand = number});
    else
      addLeaves(element, number);
}

void PlanBuilder::addInstruction(uint32_t index) {
  const ptx::Instruction &instruction = function_->instructions[index];
  form_ = &forms_.of(instruction);
  const EffectOf &effect = form_->effect;
  current_ = index;
  instruction_ = &instruction;
  const bool isGuarded = !instruction.predicate.empty();
  known_.setGuarded(isGuarded);
  if (isGuarded || instruction.facts.control == ptx::Control::TableBranch)
    addGuard();
  if (effect.effect == Effect::None && !form_->hasAddress)
    return;
  nextName_ = names();
  if (effect.effect == Effect::None)
    return noteAddress(0); // a prefetch
  if (form_->convertsAddress)
    noteAddress(1);
  if (effect.effect == Effect::Load ? loadKnown(effect) : defineFromKnown())
    return;
  leaves_.clear();
  const uint32_t operands = static_cast<uint32_t>(instruction.operands.size());
  for (uint32_t i = 0; i < operands; ++i)
    addLeaves(instruction.operands[i], i);
  if (effect.effect == Effect::Number)
    return defineAs(OriginTable::kNumber);
  if (effect.effect == Effect::Copy)
    return addMove();
  if (ptx::isComputed(effect.effect))
    return addComputed();
  switch (effect.effect) {
  case Effect::LocalAddress: // alloca: where the next one lies tells how large this one is
    for (PlannedValue source : sourcesOf(0, operands))
      addSteer(source);
    return defineAs(known_.local);
  case Effect::Call:
    return addCall();
  case Effect::ForeignLoad: {
    sourcesOf(0, operands);
    sources_.push_back(PlannedValue::known(known_.foreign));
    return compute({Combine::Blend, Finish::Keep}, sources_, leaves_);
  }
  case Effect::Synchronise:
    for (PlannedValue source : sourcesOf(0, operands))
      addSteer(source);
    return defineAs(OriginTable::kNumber);
  case Effect::SharedProduct:
    return finish(begin(StepKind::SharedProduct), sourcesOf(0, operands));
  case Effect::TensorLoad:
    return finish(begin(StepKind::TensorLoad), sourcesOf(0, operands));
  case Effect::TensorStore:
    return finish(begin(StepKind::TensorStore), sourcesOf(0, operands));
  default:
    return addMemory(effect);
  }
}

std::optional<uint32_t> PlanBuilder::cellOf(const Leaf &leaf) const {
  if (leaf.isImmediate)
    return {};
  if (leaf.ref.kind == Kind::Parameter)
    return leaf.ref.index;
  if (leaf.ref.kind == Kind::Return)
    return plan_->returnCell(leaf.ref.index);
  if (leaf.ref.kind == Kind::Variable && cellOfDeclaration_[leaf.ref.index] < plan_->firstPlaceCell)
    return cellOfDeclaration_[leaf.ref.index];
  return {};
}

PlannedValue PlanBuilder::valueOf(ptx::StateSpace space) const {
  switch (space) {
  case ptx::StateSpace::Local:
    return PlannedValue::known(known_.local);
  case ptx::StateSpace::Shared:
    return PlannedValue::known(known_.shared);
  case ptx::StateSpace::Param:
    return PlannedValue::known(known_.param);
  case ptx::StateSpace::Generic:
  case ptx::StateSpace::Global:
  case ptx::StateSpace::Const:
  case ptx::StateSpace::Tex:
    return PlannedValue::known(known_.module);
  case ptx::StateSpace::Reg:
  case ptx::StateSpace::Sreg:
    return PlannedValue::known(OriginTable::kNumber);
  }
}

/// The value that a leaf stands for. The address of a cell is taken here, where it is not read or written by name.
PlannedValue PlanBuilder::valueOf(const Leaf &leaf) {
  if (leaf.isRegister())
    return known_.read(leaf.ref.index);
  if (std::optional<uint32_t> cell = cellOf(leaf)) {
    plan_->steps.push_back({.kind = StepKind::TakeCell, .instruction = current_, .cell = *cell});
    return PlannedValue::known(known_.param);
  }
  if (!leaf.isImmediate && leaf.ref.kind == Kind::Variable)
    return valueOf(function_->declarations[leaf.ref.index].space);
  if (!leaf.isImmediate && leaf.ref.kind == Kind::ModuleVariable)
    return valueOf(module_->variables[leaf.ref.index].space);
  return PlannedValue::known(OriginTable::kNumber);
}

/// Values of the leaves that are no results, of operands [from, to); until the next call.
std::span<const PlannedValue> PlanBuilder::sourcesOf(uint32_t from, uint32_t to) {
  sources_.clear();
  addSourcesOf(from, to);
  return sources_;
}

void PlanBuilder::addSourcesOf(uint32_t from, uint32_t to) {
  for (const Leaf &leaf : leaves_)
    if (leaf.operand >= from && leaf.operand < to && !leaf.ref.isDefinition)
      sources_.push_back(valueOf(leaf));
}

Step PlanBuilder::begin(StepKind kind) const {
  return {.kind = kind, .predicated = !instruction_->predicate.empty(), .instruction = current_};
}

/// A part of a register (%v.x) leaves the rest as it was, as a predicate may leave all of it.
bool PlanBuilder::writesPart() const {
  return !instruction_->operands.empty() && instruction_->operands[0].kind == ptx::Operand::Kind::Name &&
         instruction_->operands[0].name.find('.') != std::string_view::npos;
}

void PlanBuilder::addResult(Step &step, uint32_t reg) {
  if (step.results == UINT16_MAX)
    return;
  ++step.results;
  plan_->values.push_back(reg);
  step.late |= known_.defineLater(reg);
  if (!known_.hasOneDefinition(reg)) {
    plan_->severalDefinitions[reg] = true;
    step.predicated |= writesPart();
  }
}

void PlanBuilder::addSources(Step &step, std::span<const PlannedValue> sources) {
  for (PlannedValue source : sources) {
    if (step.sources == UINT16_MAX)
      return;
    ++step.sources;
    plan_->values.push_back(known_.numberOf(source));
  }
}

void PlanBuilder::finish(Step step, std::span<const PlannedValue> sources, std::span<const Leaf> leaves) {
  step.first = static_cast<uint32_t>(plan_->values.size());
  for (const Leaf &leaf : leaves)
    if (leaf.isResult())
      addResult(step, leaf.ref.index);
  addSources(step, sources);
  plan_->steps.push_back(step);
}

} // namespace tenon::linker
