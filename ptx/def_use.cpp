#include "ptx/def_use.h"

#include <algorithm>

namespace tenon::ptx {
namespace {

/// Registers `stem<count>`; members are numbered when they are first seen.
struct Family {
  uint32_t count = 0;
  std::vector<uint32_t> dense;                   // member -> register + 1
  std::unordered_map<uint32_t, uint32_t> sparse; // beyond what a body of this size would name one by one
};

struct Entry {
  NameRef ref;
  int32_t family = -1;
};

class Resolver {
public:
  Resolver(const Function &function, const ModuleNames &names) : function_(function), moduleNames_(names) {}

  DefUse run() {
    for (uint32_t i = 0; i < function_.parameters.size(); ++i)
      declare(function_.parameters[i], {NameRef::Kind::Parameter, false, i});
    for (uint32_t i = 0; i < function_.returns.size(); ++i)
      declare(function_.returns[i], {NameRef::Kind::Return, false, i});
    result_.first.reserve(function_.instructions.size() + 1);
    result_.names.reserve(function_.instructions.size() * 3);
    for (const Statement &statement : function_.statements)
      visit(statement);
    result_.first.push_back(static_cast<uint32_t>(result_.names.size()));
    return std::move(result_);
  }

private:
  void visit(const Statement &statement) {
    switch (statement.kind) {
    case Statement::Kind::BlockBegin:
      scopes_.push_back(hidden_.size());
      break;
    case Statement::Kind::BlockEnd:
      leaveScope();
      break;
    case Statement::Kind::Declaration:
      declare(function_.declarations[statement.index], {NameRef::Kind::Variable, false, statement.index});
      break;
    case Statement::Kind::Instruction:
      resolve(function_.instructions[statement.index]);
      break;
    case Statement::Kind::Label:
    case Statement::Kind::Loc:
    case Statement::Kind::Pragma:
    case Statement::Kind::BranchTargets:
    case Statement::Kind::CallTargets:
    case Statement::Kind::CallPrototype:
      break;
    }
  }

  void declare(const Variable &variable, NameRef ref) {
    Entry entry{ref, -1};
    if (variable.space == StateSpace::Reg && variable.registerCount) {
      entry.family = static_cast<int32_t>(families_.size());
      families_.push_back({.count = variable.registerCount});
    } else if (variable.space == StateSpace::Reg) {
      entry.ref = {NameRef::Kind::Register, false, newRegister()};
      plainDigits_ |= !variable.name.empty() && variable.name.back() >= '0' && variable.name.back() <= '9';
    }
    // Stems have a map of their own: a register may carry the name of a stem.
    auto &names = entry.family < 0 ? names_ : stems_;
    auto [found, isNew] = names.try_emplace(variable.name, entry);
    if (!scopes_.empty())
      hidden_.push_back({variable.name, isNew ? std::optional<Entry>() : found->second, entry.family >= 0});
    found->second = entry;
  }

  void leaveScope() {
    if (scopes_.empty())
      return;
    for (; hidden_.size() > scopes_.back(); hidden_.pop_back()) {
      const Hidden &last = hidden_.back();
      auto &names = last.isStem ? stems_ : names_;
      if (last.entry)
        names[last.name] = *last.entry;
      else
        names.erase(last.name);
    }
    scopes_.pop_back();
  }

  uint32_t newRegister() {
    result_.definitions.push_back(0);
    return result_.registerCount++;
  }

  /// A member of a family, or nothing.
  std::optional<NameRef> findMember(std::string_view name) {
    size_t digits = name.size();
    uint64_t number = 0, scale = 1;
    for (; digits && name[digits - 1] >= '0' && name[digits - 1] <= '9' && scale <= 1'000'000'000; scale *= 10)
      number += scale * static_cast<uint64_t>(name[--digits] - '0');
    if (digits == name.size())
      return {};
    // The stem itself may end in digits (%r1<4>): the longest number is tried first.
    for (; digits < name.size(); ++digits) {
      if (auto found = stems_.find(name.substr(0, digits)); found != stems_.end()) {
        Family &family = families_[static_cast<size_t>(found->second.family)];
        if (number < family.count)
          return NameRef{NameRef::Kind::Register, false, member(family, static_cast<uint32_t>(number))};
      }
      scale /= 10;
      number %= std::max<uint64_t>(1, scale);
    }
    return {};
  }

  uint32_t member(Family &family, uint32_t number) {
    uint32_t *slot = nullptr;
    if (number >= family.dense.size()) {
      // Registers are mostly numbered without gaps; a body that leaves many pays with a slower lookup, not with memory.
      const size_t size = std::max<size_t>(number + 1, family.dense.size() * 2);
      const size_t grown = denseTotal_ - family.dense.size() + size;
      if (grown <= 16 * function_.instructions.size() + 1024) {
        denseTotal_ = grown;
        family.dense.resize(size);
        for (auto it = family.sparse.begin(); it != family.sparse.end();)
          if (it->first < size) {
            family.dense[it->first] = it->second;
            it = family.sparse.erase(it);
          } else {
            ++it;
          }
      }
    }
    slot = number < family.dense.size() ? &family.dense[number] : &family.sparse[number];
    if (!*slot)
      *slot = newRegister() + 1;
    return *slot - 1;
  }

  std::optional<NameRef> findLocal(std::string_view name) {
    // A plain register whose name ends in a digit goes before a family of the same stem.
    const bool digit = !name.empty() && name.back() >= '0' && name.back() <= '9';
    if (digit && !plainDigits_)
      if (std::optional<NameRef> ref = findMember(name))
        return ref;
    if (auto found = names_.find(name); found != names_.end())
      return found->second.ref;
    return digit && plainDigits_ ? findMember(name) : std::nullopt;
  }

  NameRef find(std::string_view name) {
    if (std::optional<NameRef> ref = findLocal(name))
      return *ref;
    // %v.x, %r.b0: a part of a register. Special registers (%tid.x) are declared nowhere.
    if (size_t dot = name.find('.'); dot != std::string_view::npos)
      if (std::optional<NameRef> ref = findLocal(name.substr(0, dot)))
        return *ref;
    return moduleNames_.find(name);
  }

  void addNames(const Operand &operand, bool written) {
    if (operand.kind == Operand::Kind::Name) {
      NameRef ref = find(operand.name);
      ref.isDefinition = written;
      if (written && ref.kind == NameRef::Kind::Register)
        ++result_.definitions[ref.index];
      result_.names.push_back(ref);
      return;
    }
    for (const Operand &element : operand.elements)
      addNames(element, written && operand.kind != Operand::Kind::Address);
  }

  void resolve(const Instruction &instruction) {
    result_.first.push_back(static_cast<uint32_t>(result_.names.size()));
    if (!instruction.predicate.empty())
      result_.names.push_back(find(instruction.predicate));
    const bool writes = writesFirstOperand(instruction);
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      addNames(instruction.operands[i], writes && i == 0);
  }

  struct Hidden {
    std::string_view name;
    std::optional<Entry> entry; // what the name meant outside; nothing: it had no meaning
    bool isStem = false;
  };

  const Function &function_;
  const ModuleNames &moduleNames_;
  DefUse result_;
  std::unordered_map<std::string_view, Entry> names_, stems_;
  std::vector<Family> families_;
  std::vector<Hidden> hidden_; // to be restored when their scopes end
  std::vector<size_t> scopes_; // hidden_.size() at the beginning of each open scope
  size_t denseTotal_ = 0;
  bool plainDigits_ = false; // some plain register's name ends in a digit
};

/// Opcodes whose operand 0 is a name but no result; those with an address there need not be listed.
bool hasNoResult(std::string_view opcode) {
  if (opcode.empty())
    return true;
  switch (opcode[0]) { // most opcodes are told by their first letter
  case 'b':
    return opcode == "bra" || opcode == "brx";
  case 'e':
    return opcode == "exit";
  case 'n':
    return opcode == "nanosleep";
  case 'p':
    return opcode == "pmevent";
  case 'r':
    return opcode == "ret";
  case 's':
    return opcode == "setmaxnreg" || opcode == "stackrestore";
  }
  return false;
}

} // namespace

bool writesFirstOperand(const Instruction &instruction) {
  if (instruction.operands.empty() || instruction.operands.front().kind == Operand::Kind::Address)
    return false;
  std::string_view opcode = instruction.opcode;
  if (opcode == "call") // (results), callee, ...
    return instruction.operands.front().kind == Operand::Kind::List;
  if (opcode == "bar" || opcode == "barrier")
    return instruction.hasModifier("red");
  if (opcode == "tcgen05")
    return instruction.hasModifier("ld");
  return !hasNoResult(opcode);
}

ModuleNames::ModuleNames(const Module &module) {
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    auto [found, isNew] =
        names_.try_emplace(module.variables[i].name, NameRef{NameRef::Kind::ModuleVariable, false, i});
    if (!isNew && !module.variables[i].isExtern)
      found->second.index = i;
  }
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    auto [found, isNew] = names_.try_emplace(module.functions[i].name, NameRef{NameRef::Kind::Function, false, i});
    if (!isNew && found->second.kind == NameRef::Kind::Function && !module.functions[i].isDeclaration)
      found->second.index = i;
  }
  for (const Alias &alias : module.aliases)
    if (auto target = names_.find(alias.target); target != names_.end()) {
      NameRef ref = target->second;
      names_.insert_or_assign(alias.name, ref);
    }
}

NameRef ModuleNames::find(std::string_view name) const {
  auto found = names_.find(name);
  return found == names_.end() ? NameRef() : found->second;
}

DefUse computeDefUse(const Function &function, const ModuleNames &names) {
  return Resolver(function, names).run();
}

} // namespace tenon::ptx
