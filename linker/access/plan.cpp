#include "linker/access/plan.h"

#include "linker/access/local_addresses.h"

#include <algorithm>

namespace tenon::linker {
namespace {

using Kind = ptx::NameRef::Kind;
constexpr uint64_t kLargestLowBitMask = 4095; // what is left of an address under it says where it is aligned, no more

/// What an asynchronous copy asks of its global address: 16 bytes in bulk, else as many as it copies.
uint32_t copyAlignment(const ptx::Instruction &instruction) {
  if (instruction.hasModifier("tensor"))
    return 0; // the map's business
  if (instruction.hasModifier("bulk"))
    return 16;
  return instruction.operands.size() > 2 ? static_cast<uint32_t>(std::min<uint64_t>(instruction.operands[2].bits, 16))
                                         : 0;
}

} // namespace

class PlanBuilder::Planner {
public:
  const ptx::DefUse &run(const ptx::Module &module, const ptx::Function &function, const ptx::ModuleNames &names,
                         Plan &plan) {
    module_ = &module;
    function_ = &function;
    plan_ = &plan;
    uses_ = &useFinder_.run(function, names);
    reset();
    flowBuilder_.run(function, plan.flow);
    for (uint32_t i = 0; i < uses_->registerCount; ++i)
      plan.severalDefinitions[i] = uses_->definitions[i] > 1;
    numberCells();
    for (const ptx::BasicBlock &block : plan.flow.blocks) {
      plan.firstStep.push_back(static_cast<uint32_t>(plan.steps.size()));
      if (block.reachable)
        for (uint32_t i = block.begin; i < block.end; ++i)
          addInstruction(i);
    }
    plan.firstStep.push_back(static_cast<uint32_t>(plan.steps.size()));
    findUndefined();
    return *uses_;
  }

private:
  void reset() {
    plan_->function = static_cast<uint32_t>(function_ - module_->functions.data());
    plan_->parameterCount = static_cast<uint32_t>(function_->parameters.size());
    plan_->returnCount = static_cast<uint32_t>(function_->returns.size());
    plan_->registerCount = uses_->registerCount;
    plan_->severalDefinitions.assign(uses_->registerCount, false);
    plan_->steps.clear();
    plan_->firstStep.clear();
    plan_->values.clear();
    plan_->calls.clear();
    plan_->tracked.clear();
    plan_->disagreeing.clear();
    plan_->undefined.clear();
    localAddresses_.clear();
  }

  void findUndefined() {
    std::vector<bool> &defined = defined_;
    defined.assign(plan_->registerCount, false);
    for (const Step &step : plan_->steps)
      for (uint32_t i = 0; i < step.results; ++i)
        defined[plan_->values[step.firstResult + i]] = true;
    for (const CallSite &call : plan_->calls)
      for (const Passed &result : call.results)
        if (!result.isCell && result.index < plan_->registerCount)
          defined[result.index] = true;
    for (uint32_t i = 0; i < plan_->registerCount; ++i)
      if (!defined[i])
        plan_->undefined.push_back(i);
  }

  /// One name or number of an operand.
  struct Leaf {
    uint32_t operand = 0;
    bool isImmediate = false;
    uint64_t bits = 0;
    ptx::NameRef ref;
  };

  void numberCells() {
    uint32_t next = plan_->parameterCount + plan_->returnCount;
    cellOfDeclaration_.assign(function_->declarations.size(), UINT32_MAX);
    for (size_t i = 0; i < function_->declarations.size(); ++i)
      if (function_->declarations[i].space == ptx::StateSpace::Param)
        cellOfDeclaration_[i] = next++;
    plan_->firstLocalCell = next;
    for (size_t i = 0; i < function_->declarations.size(); ++i)
      if (function_->declarations[i].space == ptx::StateSpace::Local)
        cellOfDeclaration_[i] = next++;
    plan_->cellCount = next;
  }

  std::optional<uint32_t> cellOf(const Leaf &leaf) const {
    if (leaf.isImmediate)
      return {};
    if (leaf.ref.kind == Kind::Parameter)
      return leaf.ref.index;
    if (leaf.ref.kind == Kind::Return)
      return plan_->returnCell(leaf.ref.index);
    if (leaf.ref.kind == Kind::Variable && cellOfDeclaration_[leaf.ref.index] < plan_->firstLocalCell)
      return cellOfDeclaration_[leaf.ref.index];
    return {};
  }

  /// The place whose address a name stands for, if that is one for certain: the variable itself, or a register with one
  /// definition, which came to it by constants.
  std::optional<LocalPlace> localPlaceOf(const Leaf &leaf) const {
    if (leaf.isImmediate)
      return {};
    if (leaf.ref.kind == Kind::Variable && function_->declarations[leaf.ref.index].space == ptx::StateSpace::Local)
      return LocalPlace{cellOfDeclaration_[leaf.ref.index], 0};
    return leaf.ref.kind == Kind::Register ? localAddresses_.find(leaf.ref.index) : std::nullopt;
  }

  /// `mov`, `cvta` and `add` of a constant carry a place along.
  void followLocalAddress(const ptx::Instruction &instruction) {
    if (plan_->firstLocalCell == plan_->cellCount || leaves_.size() < 2 || !instruction.predicate.empty())
      return;
    const Leaf &result = leaves_[0];
    if (result.isImmediate || !result.ref.isDefinition || result.ref.kind != Kind::Register ||
        plan_->severalDefinitions[result.ref.index])
      return;
    const std::optional<LocalPlace> place = localPlaceOf(leaves_[1]);
    const bool sums = instruction.opcode == "add" && leaves_.size() == 3 && leaves_[2].isImmediate;
    const bool copies = (instruction.opcode == "mov" || instruction.opcode == "cvta") && leaves_.size() == 2;
    if (place && (sums || copies))
      localAddresses_.add(result.ref.index,
                          place->plus(sums ? leaves_[2].bits : uint64_t(instruction.operands[1].offset)));
  }

  uint32_t spaceValue(ptx::StateSpace space) const {
    switch (space) {
    case ptx::StateSpace::Local:
      return plan_->constant(ValueConstant::Local);
    case ptx::StateSpace::Shared:
      return plan_->constant(ValueConstant::Shared);
    case ptx::StateSpace::Param:
      return plan_->constant(ValueConstant::Param);
    case ptx::StateSpace::Generic:
    case ptx::StateSpace::Global:
    case ptx::StateSpace::Const:
    case ptx::StateSpace::Tex:
      return plan_->constant(ValueConstant::Module);
    case ptx::StateSpace::Reg:
    case ptx::StateSpace::Sreg:
      return plan_->constant(ValueConstant::Number);
    }
  }

  /// The value that a leaf stands for. The address of a cell is taken here, where it is not read or written by name.
  uint32_t valueOf(const Leaf &leaf) {
    if (leaf.isImmediate)
      return plan_->constant(ValueConstant::Number);
    if (std::optional<uint32_t> cell = cellOf(leaf)) {
      Step take{.kind = StepKind::TakeCell, .instruction = current_, .cell = *cell};
      plan_->steps.push_back(take);
      return plan_->constant(ValueConstant::Param);
    }
    switch (leaf.ref.kind) {
    case Kind::Register:
      return leaf.ref.index;
    case Kind::Variable:
      return spaceValue(function_->declarations[leaf.ref.index].space);
    case Kind::ModuleVariable:
      return spaceValue(module_->variables[leaf.ref.index].space);
    case Kind::Other:
    case Kind::Function:
    case Kind::Parameter:
    case Kind::Return:
      return plan_->constant(ValueConstant::Number);
    }
  }

  void addLeaves(const ptx::Operand &operand, uint32_t number) {
    if (operand.kind == ptx::Operand::Kind::Name) {
      leaves_.push_back({.operand = number, .ref = *nextName_++});
      return;
    }
    if (operand.elements.empty() && operand.kind != ptx::Operand::Kind::List)
      leaves_.push_back({.operand = number, .isImmediate = true, .bits = operand.bits, .ref = {}});
    for (const ptx::Operand &element : operand.elements)
      addLeaves(element, number);
  }

  void addInstruction(uint32_t index) {
    current_ = index;
    const ptx::Instruction &instruction = function_->instructions[index];
    form_ = &forms_.of(instruction);
    const EffectOf &effect = form_->effect;
    if (effect.effect == Effect::None)
      return;
    leaves_.clear();
    nextName_ = uses_->namesOf(index).data() + !instruction.predicate.empty();
    for (uint32_t i = 0; i < instruction.operands.size(); ++i)
      addLeaves(instruction.operands[i], i);
    translate(instruction, effect);
  }

  bool isAddress(const ptx::Instruction &instruction, uint32_t operand) const {
    return instruction.operands[operand].kind == ptx::Operand::Kind::Address;
  }

  /// A step with the results of operand 0, if that is written, and no sources yet.
  Step begin(const ptx::Instruction &instruction, StepKind kind) const {
    // A part of a register (%v.x) leaves the rest as it was, as a predicate may leave all of it.
    const bool partial = !instruction.operands.empty() && instruction.operands[0].kind == ptx::Operand::Kind::Name &&
                         instruction.operands[0].name.find('.') != std::string_view::npos;
    return {.kind = kind, .predicated = partial || !instruction.predicate.empty(), .instruction = current_};
  }

  /// Adds a step with these sources; its results are the registers that operand 0 defines.
  void finish(Step step, std::span<const uint32_t> sources, bool withResults = true) {
    step.firstSource = static_cast<uint32_t>(plan_->values.size());
    step.sources = static_cast<uint16_t>(std::min<size_t>(sources.size(), UINT16_MAX));
    for (uint32_t i = 0; i < step.sources; ++i)
      plan_->values.push_back(sources[i]);
    step.firstResult = static_cast<uint32_t>(plan_->values.size());
    if (withResults)
      for (const Leaf &leaf : leaves_)
        if (!leaf.isImmediate && leaf.ref.isDefinition && leaf.ref.kind == Kind::Register &&
            step.results < UINT16_MAX) {
          plan_->values.push_back(leaf.ref.index);
          ++step.results;
        }
    plan_->steps.push_back(step);
  }
  void finish(Step step, ValueConstant source) {
    const uint32_t value = plan_->constant(source);
    finish(step, {&value, 1});
  }

  /// Values of the leaves that are no results, of operands [from, to); until the next call.
  std::span<const uint32_t> sourcesOf(uint32_t from, uint32_t to) {
    sources_.clear();
    for (const Leaf &leaf : leaves_)
      if (leaf.operand >= from && leaf.operand < to && !leaf.ref.isDefinition)
        sources_.push_back(valueOf(leaf));
    return sources_;
  }

  void translate(const ptx::Instruction &instruction, const EffectOf &effect) {
    const uint32_t operands = static_cast<uint32_t>(instruction.operands.size());
    const uint32_t all = operands;
    switch (effect.effect) {
    case Effect::None:
      return;
    case Effect::Number:
      return finish(begin(instruction, StepKind::Copy), ValueConstant::Number);
    case Effect::ForeignLoad:
      return finish(begin(instruction, StepKind::Copy), ValueConstant::Foreign);
    case Effect::LocalAddress:
      return finish(begin(instruction, StepKind::Copy), ValueConstant::Local);
    case Effect::Copy: {
      followLocalAddress(instruction);
      const uint32_t from = effect.sources ? effect.firstSource : 1;
      return finish(begin(instruction, StepKind::Copy), sourcesOf(from, effect.sources ? from + effect.sources : all));
    }
    case Effect::Sum:
      followLocalAddress(instruction);
      return finish(begin(instruction, StepKind::Sum), sourcesOf(1, all));
    case Effect::Difference:
      return finish(begin(instruction, operands == 3 ? StepKind::Difference : StepKind::Scale), sourcesOf(1, all));
    case Effect::MultiplyAdd:
      return finish(begin(instruction, operands == 4 ? StepKind::MultiplyAdd : StepKind::Scale), sourcesOf(1, all));
    case Effect::Mask:
      return addMask(instruction);
    case Effect::Scale:
      return finish(begin(instruction, StepKind::Scale), sourcesOf(0, all));
    case Effect::Load:
    case Effect::Store:
    case Effect::Atomic:
    case Effect::CopyToGlobal:
    case Effect::CopyToShared:
    case Effect::StoreToMap:
    case Effect::Unknown:
      return addMemory(instruction, effect);
    case Effect::Call:
      return addCall(instruction);
    }
  }

  void addMask(const ptx::Instruction &instruction) {
    for (const Leaf &leaf : leaves_)
      if (leaf.isImmediate && leaf.bits <= kLargestLowBitMask)
        return finish(begin(instruction, StepKind::TestLowBits), sourcesOf(1, 3));
    finish(begin(instruction, StepKind::Sum), sourcesOf(1, 3));
  }

  /// The operand that holds the address: the first one in brackets.
  std::optional<uint32_t> addressOperand(const ptx::Instruction &instruction) const {
    for (uint32_t i = 0; i < instruction.operands.size(); ++i)
      if (isAddress(instruction, i))
        return i;
    return {};
  }

  void addMemory(const ptx::Instruction &instruction, const EffectOf &effect) {
    const uint32_t operands = static_cast<uint32_t>(instruction.operands.size());
    std::optional<uint32_t> address = addressOperand(instruction);
    if (effect.effect == Effect::Unknown || !address)
      return finish(begin(instruction, StepKind::Unknown), sourcesOf(0, operands));
    if (effect.effect == Effect::CopyToShared) // the source stands second
      address = operands > 1 && isAddress(instruction, 1) ? 1 : *address;
    const Leaf *base = nullptr;
    for (const Leaf &leaf : leaves_)
      if (leaf.operand == *address && !base)
        base = &leaf;
    const std::optional<uint32_t> cell = base ? cellOf(*base) : std::nullopt;
    if (cell && (effect.effect == Effect::Load || effect.effect == Effect::Store))
      return addCellAccess(instruction, effect, *cell, instruction.operands[*address].offset);
    const bool mayBeLocal = effect.space == ptx::StateSpace::Local || effect.space == ptx::StateSpace::Generic;
    if (base && mayBeLocal && (instruction.opcode == "ld" || instruction.opcode == "st") && form_->width.element != 0)
      if (std::optional<LocalPlace> place = localPlaceOf(*base))
        return addCellAccess(
            instruction, effect, place->cell,
            static_cast<int64_t>(uint64_t(place->offset) + uint64_t(instruction.operands[*address].offset)));

    Step step = begin(instruction, StepKind::Load);
    step.space = effect.space;
    step.bytes = form_->width.bytes();
    step.nonCoherent = form_->nonCoherent;
    std::vector<uint32_t> &sources = sources_;
    sources.assign(1, base ? valueOf(*base) : plan_->constant(ValueConstant::Number));
    switch (effect.effect) {
    case Effect::Load:
      return finish(step, sources);
    case Effect::CopyToShared:
      step.kind = StepKind::CopyToShared;
      step.space = ptx::StateSpace::Global;
      step.bytes = copyAlignment(instruction);
      return finish(step, sources, /*withResults=*/false);
    case Effect::CopyToGlobal:
      step.kind = StepKind::CopyToGlobal;
      step.bytes = copyAlignment(instruction);
      return finish(step, sources, /*withResults=*/false);
    default:
      break;
    }
    step.kind = effect.effect == Effect::Atomic       ? StepKind::Atomic
                : effect.effect == Effect::StoreToMap ? StepKind::StoreToMap
                                                      : StepKind::Store;
    for (const Leaf &leaf : leaves_)
      if (leaf.operand != *address && !leaf.ref.isDefinition && !isAddress(instruction, leaf.operand))
        sources.push_back(valueOf(leaf));
    finish(step, sources);
  }

  /// ld.param, st.param of a .param variable by name: element by element.
  void addCellAccess(const ptx::Instruction &instruction, const EffectOf &effect, uint32_t cell, int64_t offset) {
    const Width width = form_->width;
    const bool loads = effect.effect == Effect::Load;
    std::vector<Leaf> &elements = elements_;
    elements.clear();
    for (const Leaf &leaf : leaves_)
      if (loads ? leaf.operand == 0 : leaf.operand == 1)
        elements.push_back(leaf);
    for (size_t i = 0; i < elements.size(); ++i) {
      Step step = begin(instruction, loads ? StepKind::LoadCell : StepKind::StoreCell);
      step.cell = cell;
      step.bytes = std::max<uint32_t>(1, width.element);
      step.offset = static_cast<int64_t>(static_cast<uint64_t>(offset) + i * step.bytes);
      leaves_.assign(1, elements[i]);
      if (loads)
        finish(step, {});
      else {
        const uint32_t value = valueOf(elements[i]);
        finish(step, {&value, 1}, /*withResults=*/false);
      }
    }
  }

  /// call (results), callee, (arguments), prototype;
  void addCall(const ptx::Instruction &instruction) {
    CallSite site;
    const bool hasResults = !instruction.operands.empty() && instruction.operands[0].kind == ptx::Operand::Kind::List;
    const uint32_t callee = hasResults ? 1 : 0;
    for (const Leaf &leaf : leaves_) {
      if (leaf.operand == callee) {
        site.name = instruction.operands[callee].name;
        if (!leaf.isImmediate && leaf.ref.kind == Kind::Function)
          site.callee = leaf.ref.index;
        continue;
      }
      if (leaf.operand > callee + 1)
        continue; // a prototype or a table
      Passed passed;
      if (std::optional<uint32_t> cell = cellOf(leaf))
        passed = {true, *cell};
      else
        passed = {false, valueOf(leaf)};
      (leaf.operand < callee ? site.results : site.arguments).push_back(passed);
    }
    Step step = begin(instruction, StepKind::Call);
    step.cell = static_cast<uint32_t>(plan_->calls.size());
    plan_->calls.push_back(std::move(site));
    finish(step, {}, /*withResults=*/false);
  }

  const ptx::Module *module_ = nullptr;
  const ptx::Function *function_ = nullptr;
  ptx::DefUseFinder useFinder_;
  ptx::ControlFlowBuilder flowBuilder_;
  FormTable forms_;
  const ptx::DefUse *uses_ = nullptr;
  Plan *plan_ = nullptr;
  std::vector<uint32_t> cellOfDeclaration_; // [declarations]; UINT32_MAX: neither .param nor .local
  LocalAddresses localAddresses_;
  std::vector<Leaf> leaves_, elements_; // of the current instruction
  std::vector<uint32_t> sources_;
  std::vector<bool> defined_;
  const Form *form_ = nullptr;
  const ptx::NameRef *nextName_ = nullptr;
  uint32_t current_ = 0;
};

PlanBuilder::PlanBuilder() : planner_(std::make_unique<Planner>()) {}
PlanBuilder::~PlanBuilder() = default;

void PlanBuilder::run(const ptx::Module &module, const ptx::Function &function, const ptx::ModuleNames &names,
                      Plan &plan) {
  uses_ = &planner_->run(module, function, names, plan);
}

} // namespace tenon::linker
