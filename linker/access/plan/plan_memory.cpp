// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that touch memory, and calls.
#include "linker/access/cell.h"
#include "linker/access/plan/plan_builder.h"

#include <algorithm>
#include <bit>

namespace tenon::linker {

using Kind = ptx::NameRef::Kind;

/// What an asynchronous copy asks of its global address: 16 bytes in bulk, else as many as it copies.
static uint32_t copyAlignment(const ptx::Instruction &instruction) {
  if (instruction.hasModifier("tensor"))
    return 0; // the map's business
  if (instruction.hasModifier("bulk"))
    return 16;
  return instruction.operands.size() > 2 ? static_cast<uint32_t>(std::min<uint64_t>(instruction.operands[2].bits, 16))
                                         : 0;
}

/// cp.async.bulk.shared::cluster.shared::cta: from one workgroup to another, or to itself.
static bool isSharedSource(const ptx::Instruction &instruction) {
  return std::ranges::count_if(instruction.modifiers,
                               [](std::string_view modifier) { return modifier.starts_with("shared"); }) > 1;
}

/// The place whose address a name stands for, if that is one for certain: the variable itself, or a register with one
/// definition, which came to it by constants. A register that some path reads before it is set holds a number as well,
/// and stands for any place.
std::optional<VariablePlace> PlanBuilder::placeOf(const Leaf &leaf) {
  if (leaf.isImmediate)
    return {};
  if (leaf.ref.kind == Kind::Parameter && parametersAreKnown_)
    return VariablePlace{leaf.ref.index, 0};
  if (leaf.ref.kind == Kind::Variable && cellOfDeclaration_[leaf.ref.index] != UINT32_MAX &&
      plan_->isPlaceCell(cellOfDeclaration_[leaf.ref.index]))
    return VariablePlace{cellOfDeclaration_[leaf.ref.index], 0};
  if (leaf.ref.kind != Kind::Register)
    return {};
  const std::optional<VariablePlace> place = places_.find(leaf.ref.index);
  return place && isAddressOf(known_.peek(leaf.ref.index), place->cell) ? place : std::nullopt;
}

/// `mov`, `cvta`, `cvt` of a shared address and `add` of a constant carry a place along: which one, if they do.
std::optional<VariablePlace> PlanBuilder::followPlace() {
  if ((plan_->firstPlaceCell == plan_->cellCount && !parametersAreKnown_) || leaves_.size() < 2 ||
      !instruction_->predicate.empty())
    return {};
  const Leaf &result = leaves_[0];
  if (!result.isResult() || !known_.hasOneDefinition(result.ref.index))
    return {};
  const std::string_view opcode = instruction_->opcode;
  const std::optional<VariablePlace> place = placeOf(leaves_[1]);
  const bool sums = opcode == "add" && leaves_.size() == 3 && leaves_[2].isImmediate;
  const bool widens = opcode == "cvt" && form_->transfer.combine == Combine::Join && form_->width.element >= 4;
  const bool copies = (opcode == "mov" || opcode == "cvta" || widens) && leaves_.size() == 2;
  if (!place || !(sums || copies) || (plan_->isParameter(place->cell) && !keepsExactly(place->cell)))
    return {};
  const VariablePlace to = place->plus(sums ? leaves_[2].bits : uint64_t(instruction_->operands[1].offset));
  places_.add(result.ref.index, to);
  return to;
}

/// An address that no step will look at, in operand 0 or behind a result: parameters that go into it as they are.
void PlanBuilder::noteAddress(uint32_t operand) {
  if (!parametersAreKnown_ || operand >= instruction_->operands.size() ||
      (operand == 1 && instruction_->operands[0].kind != ptx::Operand::Kind::Name))
    return;
  const ptx::Operand &address = instruction_->operands[operand];
  if (isAddress(operand) && address.elements.empty())
    return;
  const ptx::Operand &base = isAddress(operand) ? address.elements[0] : address;
  const ptx::NameRef &name = nextName_[operand];
  if (base.kind != ptx::Operand::Kind::Name || name.kind != Kind::Register)
    return;
  const uint64_t bases = known_.table[known_.peek(name.index)].plus & (slotBit(kFurtherSlots) - 1);
  const bool isSole = std::has_single_bit(bases);
  for (uint64_t left = bases; left != 0; left &= left - 1) {
    const auto parameter = static_cast<size_t>(std::countr_zero(left));
    if (parameter < plan_->notes.size())
      (isSole ? plan_->notes[parameter].soleBase : plan_->notes[parameter].jointBase) = true;
  }
}

/// The short way of loads: one register from global memory at a known address, or from a parameter of the kernel. False
/// where it leads nowhere, and then nothing has happened.
bool PlanBuilder::loadKnown(const EffectOf &effect) {
  const ptx::List<ptx::Operand> &operands = instruction_->operands;
  if (operands.size() != 2 || operands[0].kind != ptx::Operand::Kind::Name || !isAddress(1) ||
      operands[1].elements.size() != 1 || operands[1].elements[0].kind != ptx::Operand::Kind::Name)
    return false;
  const ptx::NameRef &result = nextName_[0], &base = nextName_[1];
  if (result.kind != Kind::Register || !result.isDefinition || !known_.hasOneDefinition(result.index))
    return false;
  if (base.kind == Kind::Parameter && parametersAreKnown_) {
    const uint32_t bytes = std::max<uint32_t>(1, form_->width.element);
    const Origins value = loadArgument(base.index, operands[1].offset, bytes);
    if (!known_.define(result.index, known_.table.idOf(value), true))
      return false;
    noteLoaded(base.index, operands[1].offset, bytes);
    if (bytes == 8 && instruction_->predicate.empty())
      noteWholePointer(result.index, value);
    return true;
  }
  if (base.kind != Kind::Register || effect.space != ptx::StateSpace::Global)
    return false;
  const OriginTable::Id address = known_.peek(base.index);
  if (address == OriginTable::kUnknown || !known_.define(result.index, foreignBehind(address), true))
    return false;
  if (known_.table[address].involved() & kParameterBits) {
    const PlannedValue source = PlannedValue::known(address);
    Step step = begin(StepKind::Load);
    step.space = effect.space;
    step.bytes = form_->width.bytes();
    step.nonCoherent = form_->nonCoherent;
    finish(step, {&source, 1}, {});
  }
  return true;
}

void PlanBuilder::addMemory(const EffectOf &effect) {
  const uint32_t operands = static_cast<uint32_t>(instruction_->operands.size());
  uint32_t address = 0; // the operand: the first one in brackets
  while (address < operands && !isAddress(address))
    ++address;
  if (effect.effect == Effect::Unknown || address == operands)
    return finish(begin(StepKind::Unknown), sourcesOf(0, operands));
  if (effect.effect == Effect::CopyToShared && operands > 1 && isAddress(1))
    address = 1; // the source stands second
  const Leaf *base = nullptr;
  for (size_t i = 0; i < leaves_.size() && !base; ++i)
    if (leaves_[i].operand == address)
      base = &leaves_[i];
  const std::optional<uint32_t> cell = base ? cellOf(*base) : std::nullopt;
  const int64_t offset = instruction_->operands[address].offset;
  const bool loads = effect.effect == Effect::Load;
  if (cell && (loads || effect.effect == Effect::Store))
    return addCellAccess(loads, *cell, offset);
  const bool mayBePlace = effect.space == ptx::StateSpace::Local || effect.space == ptx::StateSpace::Shared ||
                          effect.space == ptx::StateSpace::Generic || (loads && effect.space == ptx::StateSpace::Param);
  if (base && mayBePlace && (instruction_->opcode == "ld" || instruction_->opcode == "st") && form_->width.element != 0)
    if (std::optional<VariablePlace> place = placeOf(*base); place && (loads || plan_->isPlaceCell(place->cell)))
      return addCellAccess(loads, place->cell, static_cast<int64_t>(uint64_t(place->offset) + uint64_t(offset)));

  if (base && mayBePlace && (instruction_->opcode == "ld" || instruction_->opcode == "st") &&
      form_->width.element != 0 && addRangeAccess(loads, *base, offset))
    return;

  const PlannedValue at = base ? valueOf(*base) : PlannedValue::known(OriginTable::kNumber);
  Step step = begin(StepKind::Store);
  step.space = effect.space;
  step.bytes = form_->width.bytes();
  step.element = form_->width.element;
  step.nonCoherent = form_->nonCoherent;
  step.offset = offset;
  switch (effect.effect) {
  case Effect::Load:
    return addLoad(step, at);
  case Effect::CopyToShared:
    step.kind = StepKind::CopyToShared;
    step.space = isSharedSource(*instruction_) ? ptx::StateSpace::Shared : ptx::StateSpace::Global;
    step.bytes = copyAlignment(*instruction_);
    sources_.assign(1, at);
    for (const Leaf &leaf : leaves_) // where to, how much, which tile
      if (&leaf != base)
        sources_.push_back(valueOf(leaf));
    return finish(step, sources_, {});
  case Effect::CopyToGlobal:
    step.kind = StepKind::CopyToGlobal;
    step.bytes = copyAlignment(*instruction_);
    return addCopyToGlobal(step, at, base);
  case Effect::Atomic:
    step.kind = StepKind::Atomic;
    break;
  case Effect::StoreToMap:
    step.kind = StepKind::StoreToMap;
    break;
  default:
    break;
  }
  sources_.assign(1, at);
  for (const Leaf &leaf : leaves_)
    if (leaf.operand == address ? &leaf != base : !leaf.ref.isDefinition && !isAddress(leaf.operand))
      sources_.push_back(valueOf(leaf)); // of a tensor's address, its coordinates
  finish(step, sources_);
}

/// How many bytes are written, and which of them, is a choice as a branch is.
void PlanBuilder::addCopyToGlobal(Step step, PlannedValue at, const Leaf *base) {
  sources_.assign(1, at);
  for (const Leaf &leaf : leaves_) {
    if (&leaf == base)
      continue;
    if (isAddress(leaf.operand))
      sources_.push_back(valueOf(leaf)); // where from
    else
      addSteer(valueOf(leaf));
  }
  finish(step, sources_, {});
}

/// Memory that everybody sees holds foreign values, whatever the address.
void PlanBuilder::addLoad(Step step, PlannedValue address) {
  step.kind = StepKind::Load;
  switch (step.space) {
  case ptx::StateSpace::Local:
  case ptx::StateSpace::Shared:
  case ptx::StateSpace::Param:
  case ptx::StateSpace::Generic:
    return finish(step, {&address, 1});
  case ptx::StateSpace::Reg:
  case ptx::StateSpace::Sreg:
  case ptx::StateSpace::Const:
  case ptx::StateSpace::Global:
  case ptx::StateSpace::Tex:
    break;
  }
  if (!address.isKnown())
    return finish(step, {&address, 1});
  if (step.space == ptx::StateSpace::Global && (known_.table[address.id()].involved() & kParameterBits))
    finish(step, {&address, 1}, {});
  defineAs(foreignBehind(address.id()));
}

/// What memory that everybody sees holds behind an address: which of it is told by what the address tells.
OriginTable::Id PlanBuilder::foreignBehind(OriginTable::Id address) {
  const Secrets &secrets = known_.table.secrets();
  const Origins &origins = known_.table[address];
  return secrets.tells(origins) ? known_.table.select(known_.foreign, known_.table.idOf(secrets.told(origins)))
                                : known_.foreign;
}

/// A parameter of a kernel, by name. Beyond its bytes the others stand, nobody knows which.
Origins PlanBuilder::loadArgument(uint32_t parameter, int64_t offset, uint32_t bytes) const {
  const Secrets &secrets = known_.table.secrets();
  const uint64_t size = function_->parameters[parameter].bytes();
  if (offset >= 0 && uint64_t(offset) + bytes <= size)
    return loadFrom(arguments_[parameter], offset, bytes, secrets);
  Origins any = Origins::number();
  for (const Cell &argument : arguments_)
    any.join(loadAnywhere(argument, secrets));
  return any;
}

/// Whether the whole place that a step loads was stored to on every path: in its block, or in the first one. A function
/// finds its parameters stored; other .param variables are stored in the block of the call.
bool PlanBuilder::isFilled(const Step &step) const {
  if (plan_->isParameter(step.cell))
    return true;
  const uint32_t block = plan_->flow.blockOf[current_];
  const bool isPlace = plan_->isPlaceCell(step.cell);
  return std::ranges::any_of(isPlace ? filled_ : stored_, [&](const Filled &place) {
    return place.cell == step.cell && (place.block == block || (isPlace && place.block == 0)) &&
           isWithin(step.offset, step.bytes, place.offset, place.bytes);
  });
}

/// A local variable of a function that is called begins with what another function has left there.
void PlanBuilder::noteFilled(Step &step) {
  if (step.kind == StepKind::LoadCell) {
    step.isFilled = isFilled(step);
    step.mayBeBlank = !step.isFilled && !function_->isEntry && plan_->slotOfCell(step.cell) == kLocalMemory;
  } else if (!step.predicated && !step.isSomewhere && plan_->isPlaceCell(step.cell)) {
    filled_.push_back({step.cell, plan_->flow.blockOf[current_], step.offset, step.bytes});
  }
}

/// ld.param, st.param of a .param variable by name, accesses of a known place: element by element.
void PlanBuilder::addCellAccess(bool loads, uint32_t cell, int64_t offset) {
  const uint32_t operand = loads ? 0 : 1;
  const auto isElement = [operand](const Leaf &leaf) { return leaf.operand == operand; };
  const auto first = std::find_if(leaves_.begin(), leaves_.end(), isElement);
  const std::span<const Leaf> elements(first, std::find_if_not(first, leaves_.end(), isElement));
  const uint32_t bytes = std::max<uint32_t>(1, form_->width.element);
  if (parametersAreKnown_ && cell < plan_->parameterCount) {
    if (loads)
      return addKernelParameter(elements, cell, offset, bytes);
    writesParameters_ = true;
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    sources_.clear();
    if (!loads)
      sources_.push_back(valueOf(elements[i]));
    Step step = begin(loads ? StepKind::LoadCell : StepKind::StoreCell);
    step.cell = cell;
    step.bytes = bytes;
    step.offset = static_cast<int64_t>(static_cast<uint64_t>(offset) + i * bytes);
    noteFilled(step);
    if (!loads)
      noteStored(cell, step.offset, bytes);
    finish(step, sources_, loads ? elements.subspan(i, 1) : std::span<const Leaf>());
  }
}

/// The slots of a parameter that a load by name finds.
void PlanBuilder::noteLoaded(uint32_t parameter, int64_t offset, uint32_t bytes) {
  for (uint32_t i = 0; i < slots_->size(); ++i) {
    const ParameterSlot &slot = (*slots_)[i];
    if (slot.parameter != parameter)
      continue;
    const auto begin = static_cast<int64_t>(slot.offset);
    if (slot.isMap)
      continue;
    if (slot.isPointer && (offset >= begin + 8 || offset + int64_t(bytes) <= begin))
      continue;
    plan_->notes[i].named = true;
    plan_->notes[i].loadedAsFloat |= form_->isFloat;
  }
}

void PlanBuilder::addKernelParameter(std::span<const Leaf> elements, uint32_t parameter, int64_t offset,
                                     uint32_t bytes) {
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto at = static_cast<int64_t>(static_cast<uint64_t>(offset) + i * bytes);
    noteLoaded(parameter, at, bytes);
    const Origins value = loadArgument(parameter, at, bytes);
    defineAs(known_.table.idOf(value), elements.subspan(i, 1));
    const Leaf &leaf = elements[i];
    if (bytes == 8 && instruction_->predicate.empty() && leaf.isResult() && known_.hasOneDefinition(leaf.ref.index))
      noteWholePointer(leaf.ref.index, value);
  }
}

/// call (results), callee, (arguments), prototype;
void PlanBuilder::addCall() {
  CallSite site;
  Step step = begin(StepKind::Call);
  const bool hasResults = !instruction_->operands.empty() && instruction_->operands[0].kind == ptx::Operand::Kind::List;
  const uint32_t callee = hasResults ? 1 : 0;
  for (const Leaf &leaf : leaves_) {
    if (leaf.operand == callee && leaf.isRegister())
      addSteer(known_.read(leaf.ref.index));
    if (leaf.operand == callee) {
      site.name = instruction_->operands[callee].name;
      if (!leaf.isImmediate && leaf.ref.kind == Kind::Function)
        site.callee = leaf.ref.index;
      continue;
    }
    if (leaf.operand > callee + 1)
      continue; // a prototype or a table
    const bool isResult = leaf.operand < callee;
    Passed passed;
    if (std::optional<uint32_t> cell = cellOf(leaf)) {
      passed = {.isCell = true, .index = *cell, .blank = {}};
      if (!isResult)
        passed.blank = blankOf(*cell);
      writesParameters_ |= isResult && parametersAreKnown_ && *cell < plan_->parameterCount;
    } else if (isResult && leaf.isRegister()) {
      passed.index = leaf.ref.index;
      step.late |= known_.defineLater(leaf.ref.index);
    } else {
      passed.index = known_.numberOf(valueOf(leaf));
    }
    (isResult ? site.results : site.arguments).push_back(std::move(passed));
  }
  for (const Passed &result : site.results)
    if (result.isCell)
      noteStored(result.index, 0, plan_->cellBytes[result.index]);
  step.cell = static_cast<uint32_t>(plan_->calls.size());
  plan_->calls.push_back(std::move(site));
  finish(step, {}, {});
}

} // namespace tenon::linker
