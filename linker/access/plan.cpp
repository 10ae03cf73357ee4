#include "linker/access/plan.h"

#include <algorithm>

namespace tenon::linker {
namespace {

using Kind = ptx::NameRef::Kind;
constexpr uint64_t kLargestLowBitMask = 4095; // what is left of an address under it says where it is aligned, no more

/// ".v4.f32" is 16, ".b64" is 8; 0 where no type is written.
struct Width {
  uint32_t element = 0, count = 1;
  uint32_t bytes() const { return element * count; }
};
Width widthOf(const ptx::Instruction &instruction) {
  Width width;
  for (std::string_view modifier : instruction.modifiers) {
    if (modifier.size() == 2 && modifier[0] == 'v' && modifier[1] >= '2' && modifier[1] <= '8')
      width.count = static_cast<uint32_t>(modifier[1] - '0');
    else if (modifier.size() >= 2 && modifier.size() <= 6 && modifier != "shared" && modifier != "global")
      if (ptx::ScalarType type = ptx::parseScalarType(modifier); type != ptx::ScalarType::None)
        width.element = ptx::byteSize(type);
  }
  return width;
}

/// What an asynchronous copy asks of its global address: 16 bytes in bulk, else as many as it copies.
uint32_t copyAlignment(const ptx::Instruction &instruction) {
  if (instruction.hasModifier("tensor"))
    return 0; // the map's business
  if (instruction.hasModifier("bulk"))
    return 16;
  return instruction.operands.size() > 2 ? static_cast<uint32_t>(std::min<uint64_t>(instruction.operands[2].bits, 16))
                                         : 0;
}

class Planner {
public:
  Planner(const ptx::Module &module, const ptx::ModuleNames &names, const ptx::Function &function)
      : module_(module), function_(function), uses_(computeDefUse(function, names)) {}

  Plan run() {
    plan_.function = &function_;
    plan_.flow = computeControlFlow(function_);
    plan_.registerCount = uses_.registerCount;
    plan_.severalDefinitions.resize(uses_.registerCount);
    for (uint32_t i = 0; i < uses_.registerCount; ++i)
      plan_.severalDefinitions[i] = uses_.definitions[i] > 1;
    numberCells();
    plan_.steps.reserve(function_.instructions.size());
    plan_.values.reserve(function_.instructions.size() * 3);
    for (const ptx::BasicBlock &block : plan_.flow.blocks) {
      plan_.firstStep.push_back(static_cast<uint32_t>(plan_.steps.size()));
      if (block.reachable)
        for (uint32_t i = block.begin; i < block.end; ++i)
          addInstruction(i);
    }
    plan_.firstStep.push_back(static_cast<uint32_t>(plan_.steps.size()));
    findUndefined();
    return std::move(plan_);
  }

private:
  void findUndefined() {
    std::vector<bool> defined(plan_.registerCount);
    for (const Step &step : plan_.steps)
      for (uint32_t i = 0; i < step.results; ++i)
        defined[plan_.values[step.firstResult + i]] = true;
    for (const CallSite &call : plan_.calls)
      for (const Passed &result : call.results)
        if (!result.isCell && result.index < plan_.registerCount)
          defined[result.index] = true;
    for (uint32_t i = 0; i < plan_.registerCount; ++i)
      if (!defined[i])
        plan_.undefined.push_back(i);
  }

  /// One name or number of an operand.
  struct Leaf {
    uint32_t operand = 0;
    bool isImmediate = false;
    uint64_t bits = 0;
    ptx::NameRef ref;
  };

  void numberCells() {
    uint32_t next = static_cast<uint32_t>(function_.parameters.size() + function_.returns.size());
    cellOfDeclaration_.assign(function_.declarations.size(), UINT32_MAX);
    for (size_t i = 0; i < function_.declarations.size(); ++i)
      if (function_.declarations[i].space == ptx::StateSpace::Param)
        cellOfDeclaration_[i] = next++;
    plan_.cellCount = next;
  }

  std::optional<uint32_t> cellOf(const Leaf &leaf) const {
    if (leaf.isImmediate)
      return {};
    if (leaf.ref.kind == Kind::Parameter)
      return leaf.ref.index;
    if (leaf.ref.kind == Kind::Return)
      return plan_.returnCell(leaf.ref.index);
    if (leaf.ref.kind == Kind::Variable && cellOfDeclaration_[leaf.ref.index] != UINT32_MAX)
      return cellOfDeclaration_[leaf.ref.index];
    return {};
  }

  uint32_t spaceValue(ptx::StateSpace space) const {
    switch (space) {
    case ptx::StateSpace::Local:
      return plan_.constant(ValueConstant::Local);
    case ptx::StateSpace::Shared:
      return plan_.constant(ValueConstant::Shared);
    case ptx::StateSpace::Param:
      return plan_.constant(ValueConstant::Param);
    case ptx::StateSpace::Generic:
    case ptx::StateSpace::Global:
    case ptx::StateSpace::Const:
    case ptx::StateSpace::Tex:
      return plan_.constant(ValueConstant::Module);
    case ptx::StateSpace::Reg:
    case ptx::StateSpace::Sreg:
      return plan_.constant(ValueConstant::Number);
    }
  }

  /// The value that a leaf stands for. The address of a cell is taken here, where it is not read or written by name.
  uint32_t valueOf(const Leaf &leaf) {
    if (leaf.isImmediate)
      return plan_.constant(ValueConstant::Number);
    if (std::optional<uint32_t> cell = cellOf(leaf)) {
      Step take{.kind = StepKind::TakeCell, .instruction = current_, .cell = *cell};
      plan_.steps.push_back(take);
      return plan_.constant(ValueConstant::Param);
    }
    switch (leaf.ref.kind) {
    case Kind::Register:
      return leaf.ref.index;
    case Kind::Variable:
      return spaceValue(function_.declarations[leaf.ref.index].space);
    case Kind::ModuleVariable:
      return spaceValue(module_.variables[leaf.ref.index].space);
    case Kind::Other:
    case Kind::Function:
    case Kind::Parameter:
    case Kind::Return:
      return plan_.constant(ValueConstant::Number);
    }
  }

  void addLeaves(const ptx::Operand &operand, uint32_t number) {
    if (operand.kind == ptx::Operand::Kind::Name) {
      leaves_.push_back({.operand = number, .ref = *nextName_++});
      return;
    }
    if (operand.elements.empty() && operand.kind != ptx::Operand::Kind::List)
      leaves_.push_back({.operand = number, .isImmediate = true, .bits = operand.bits});
    for (const ptx::Operand &element : operand.elements)
      addLeaves(element, number);
  }

  void addInstruction(uint32_t index) {
    current_ = index;
    const ptx::Instruction &instruction = function_.instructions[index];
    const EffectOf effect = effectOf(instruction);
    if (effect.effect == Effect::None)
      return;
    leaves_.clear();
    nextName_ = uses_.namesOf(index).data() + !instruction.predicate.empty();
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
  void finish(Step step, const std::vector<uint32_t> &sources, bool withResults = true) {
    step.firstSource = static_cast<uint32_t>(plan_.values.size());
    step.sources = static_cast<uint16_t>(std::min<size_t>(sources.size(), UINT16_MAX));
    plan_.values.insert(plan_.values.end(), sources.begin(), sources.begin() + step.sources);
    step.firstResult = static_cast<uint32_t>(plan_.values.size());
    if (withResults)
      for (const Leaf &leaf : leaves_)
        if (!leaf.isImmediate && leaf.ref.isDefinition && leaf.ref.kind == Kind::Register &&
            step.results < UINT16_MAX) {
          plan_.values.push_back(leaf.ref.index);
          ++step.results;
        }
    plan_.steps.push_back(step);
  }

  /// Values of the leaves that are no results, of operands [from, to).
  std::vector<uint32_t> sourcesOf(uint32_t from, uint32_t to) {
    std::vector<uint32_t> sources;
    for (const Leaf &leaf : leaves_)
      if (leaf.operand >= from && leaf.operand < to && !leaf.ref.isDefinition)
        sources.push_back(valueOf(leaf));
    return sources;
  }

  void translate(const ptx::Instruction &instruction, const EffectOf &effect) {
    const uint32_t operands = static_cast<uint32_t>(instruction.operands.size());
    const uint32_t all = operands;
    switch (effect.effect) {
    case Effect::None:
      return;
    case Effect::Number:
      return finish(begin(instruction, StepKind::Copy), {plan_.constant(ValueConstant::Number)});
    case Effect::ForeignLoad:
      return finish(begin(instruction, StepKind::Copy), {plan_.constant(ValueConstant::Foreign)});
    case Effect::LocalAddress:
      return finish(begin(instruction, StepKind::Copy), {plan_.constant(ValueConstant::Local)});
    case Effect::Copy: {
      const uint32_t from = effect.sources ? effect.firstSource : 1;
      return finish(begin(instruction, StepKind::Copy), sourcesOf(from, effect.sources ? from + effect.sources : all));
    }
    case Effect::Sum:
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

    Step step = begin(instruction, StepKind::Load);
    step.space = effect.space;
    step.bytes = widthOf(instruction).bytes();
    step.nonCoherent = instruction.hasModifier("nc");
    std::vector<uint32_t> sources = {base ? valueOf(*base) : plan_.constant(ValueConstant::Number)};
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
    const Width width = widthOf(instruction);
    const bool loads = effect.effect == Effect::Load;
    std::vector<Leaf> elements;
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
      else
        finish(step, {valueOf(elements[i])}, /*withResults=*/false);
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
          site.callee = &module_.functions[leaf.ref.index];
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
    step.cell = static_cast<uint32_t>(plan_.calls.size());
    plan_.calls.push_back(std::move(site));
    finish(step, {}, /*withResults=*/false);
  }

  const ptx::Module &module_;
  const ptx::Function &function_;
  ptx::DefUse uses_;
  Plan plan_;
  std::vector<uint32_t> cellOfDeclaration_; // [declarations]; UINT32_MAX: no .param variable
  std::vector<Leaf> leaves_;                // of the current instruction
  const ptx::NameRef *nextName_ = nullptr;
  uint32_t current_ = 0;
};

} // namespace

Plan &PlanCache::planOf(const ptx::Function &function) {
  std::unique_ptr<Plan> &plan = plans_[&function];
  if (!plan)
    plan = std::make_unique<Plan>(Planner(module_, names_, function).run());
  return *plan;
}

} // namespace tenon::linker
