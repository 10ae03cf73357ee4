// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/body_facts.h"

namespace tenon::linker {
namespace {

using Kind = ptx::NameRef::Kind;

class Finder {
public:
  Finder(const ptx::Module &module, const ptx::DefUse &uses, const ptx::ModuleNames &names)
      : module_(module), uses_(uses), names_(names) {}

  BodyFacts run(const ptx::Function &function) {
    bool calls = false, takesHandles = false;
    for (const ptx::Instruction &instruction : function.instructions) {
      calls |= instruction.facts.control == ptx::Control::Call;
      takesHandles |= instruction.facts.takesHandle;
    }
    if (takesHandles)
      facts_.handleUse = firstHandleUse(function);
    // Few bodies name anything of the module.
    if (calls || uses_.namesModule)
      addNames(function);
    for (const ptx::LabelTable &table : function.tables)
      for (std::string_view entry : table.entries)
        add(names_.find(entry), table.line, table.column);
    for (const ptx::Variable &variable : function.declarations) {
      if (variable.space == ptx::StateSpace::Shared)
        facts_.shared.push_back(variable);
      for (const ptx::Variable::Initializer &initializer : variable.initializers)
        if (initializer.value.kind == ptx::Operand::Kind::Name)
          add(names_.find(initializer.value.name), variable.line, variable.column);
    }
    return std::move(facts_);
  }

private:
  static uint32_t firstHandleUse(const ptx::Function &function) {
    uint32_t i = 0;
    while (!function.instructions[i].facts.takesHandle)
      ++i;
    return i;
  }

  static bool isOfModule(const ptx::NameRef &ref) {
    return ref.kind == Kind::ModuleVariable || ref.kind == Kind::Function;
  }

  void addNames(const ptx::Function &function) {
    for (uint32_t i = 0; i < function.instructions.size(); ++i) {
      const ptx::Instruction &instruction = function.instructions[i];
      for (const ptx::NameRef &ref : uses_.namesOf(i))
        if (isOfModule(ref))
          add(ref, instruction.line, instruction.column);
      if (instruction.facts.control == ptx::Control::Call)
        addCallee(instruction, i);
    }
  }

  void add(const ptx::NameRef &ref, uint32_t line, uint32_t column) {
    if (ref.kind == Kind::ModuleVariable)
      add(module_.variables[ref.index].name, line, column, false);
    else if (ref.kind == Kind::Function)
      add(module_.functions[ref.index].name, line, column, false);
  }

  void add(std::string_view name, uint32_t line, uint32_t column, bool isUndeclared) {
    uint32_t &number = seen_[name];
    if (number != ptx::NameMap::kNone)
      return;
    number = 0;
    facts_.uses.push_back({name, line, column, isUndeclared});
  }

  /// The callee of a direct call that nothing declares would be found nowhere else.
  void addCallee(const ptx::Instruction &call, uint32_t index) {
    const ptx::NameRef *ref = uses_.namesOf(index).data() + !call.predicate.empty();
    for (const ptx::Operand &operand : call.operands) {
      if (operand.kind == ptx::Operand::Kind::Name) {
        if (ref->kind == Kind::Other && !operand.name.starts_with('%'))
          add(operand.name, call.line, call.column, true);
        return; // what follows the callee are tables and prototypes
      }
      ref += countNames(operand);
    }
  }

  static size_t countNames(const ptx::Operand &operand) {
    size_t count = operand.kind == ptx::Operand::Kind::Name;
    for (const ptx::Operand &element : operand.elements)
      count += countNames(element);
    return count;
  }

  const ptx::Module &module_;
  const ptx::DefUse &uses_;
  const ptx::ModuleNames &names_;
  BodyFacts facts_;
  ptx::NameMap seen_;
};

} // namespace

BodyFacts findBodyFacts(const ptx::Module &module, const ptx::Function &function, const ptx::DefUse &uses,
                        const ptx::ModuleNames &names) {
  return Finder(module, uses, names).run(function);
}

} // namespace tenon::linker
