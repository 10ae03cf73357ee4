#include "ptx/def_use.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::ptx {
namespace {

/// Registers `stem<count>`; members are numbered when they are first seen.
struct Family {
  std::string_view stem;
  uint32_t count = 0;
  uint32_t firstMember = kNone; // into Resolver::members_; kNone: too many for this body, see wide
  uint32_t wide = kNone;        // into Resolver::wide_

  static constexpr uint32_t kNone = UINT32_MAX;
};

constexpr uint32_t kNotNumbered = UINT32_MAX;

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

} // namespace

class DefUseFinder::Resolver {
public:
  const DefUse &run(const Function &function, const ModuleNames &names) {
    function_ = &function;
    moduleNames_ = &names;
    reset();
    for (uint32_t i = 0; i < function.parameters.size(); ++i)
      declare(function.parameters[i], {NameRef::Kind::Parameter, false, i});
    for (uint32_t i = 0; i < function.returns.size(); ++i)
      declare(function.returns[i], {NameRef::Kind::Return, false, i});
    for (const Statement &statement : function.statements)
      visit(statement);
    result_.first.push_back(static_cast<uint32_t>(result_.names.size()));
    return result_;
  }

private:
  void reset() {
    result_.registerCount = 0;
    result_.definitions.clear();
    result_.names.clear();
    result_.first.clear();
    result_.unknown.clear();
    numbers_.clear();
    refs_.clear();
    families_.clear();
    stems_.clear();
    members_.clear();
    wideUsed_ = 0;
    wideTotal_ = 0;
    sparse_.clear();
    hidden_.clear();
    scopes_.clear();
    plainDigits_ = scoped_ = false;
  }

  void visit(const Statement &statement) {
    switch (statement.kind) {
    case Statement::Kind::BlockBegin:
      scopes_.push_back(hidden_.size());
      scoped_ = true;
      break;
    case Statement::Kind::BlockEnd:
      leaveScope();
      break;
    case Statement::Kind::Declaration:
      declare(function_->declarations[statement.index], {NameRef::Kind::Variable, false, statement.index});
      break;
    case Statement::Kind::Instruction:
      resolve(function_->instructions[statement.index]);
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
    if (variable.space == StateSpace::Reg && variable.registerCount)
      return declareFamily(variable);
    if (variable.space == StateSpace::Reg) {
      ref = {NameRef::Kind::Register, false, newRegister()};
      plainDigits_ |= !variable.name.empty() && isDigit(variable.name.back());
    }
    uint32_t &number = numbers_[variable.name];
    if (!scopes_.empty())
      hidden_.push_back({variable.name, number, false});
    number = static_cast<uint32_t>(refs_.size());
    refs_.push_back(ref);
  }

  /// Stems have a map of their own: a register may carry the name of a stem.
  void declareFamily(const Variable &variable) {
    uint32_t &number = stems_[variable.name];
    if (!scopes_.empty())
      hidden_.push_back({variable.name, number, true});
    number = static_cast<uint32_t>(families_.size());
    Family family{.stem = variable.name, .count = variable.registerCount};
    const size_t instructions = function_->instructions.size();
    if (family.count <= 2 * instructions + 64 && members_.size() + family.count <= 16 * instructions + 1024) {
      family.firstMember = static_cast<uint32_t>(members_.size());
      members_.resize(members_.size() + family.count, kNotNumbered);
    } else {
      family.wide = wideUsed_++;
      if (wide_.size() < wideUsed_)
        wide_.emplace_back();
      wide_[family.wide].clear();
    }
    families_.push_back(family);
  }

  void leaveScope() {
    if (scopes_.empty())
      return;
    for (; hidden_.size() > scopes_.back(); hidden_.pop_back()) {
      const Hidden &last = hidden_.back();
      (last.isStem ? stems_ : numbers_)[last.name] = last.number; // kNone: it has no meaning again
    }
    scopes_.pop_back();
  }

  uint32_t newRegister() {
    result_.definitions.push_back(0);
    return result_.registerCount++;
  }

  /// A member of a family, or nothing.
  bool findMember(std::string_view name, NameRef &ref) {
    size_t digits = name.size();
    uint64_t number = 0, scale = 1;
    for (; digits && isDigit(name[digits - 1]) && scale <= 1'000'000'000; scale *= 10)
      number += scale * static_cast<uint64_t>(name[--digits] - '0');
    // The stem itself may end in digits (%r1<4>): the longest number is tried first.
    for (; digits < name.size(); ++digits) {
      const uint32_t found = findStem(name.substr(0, digits));
      if (found != NameMap::kNone && number < families_[found].count) {
        ref = {NameRef::Kind::Register, false, member(families_[found], found, static_cast<uint32_t>(number))};
        return true;
      }
      scale /= 10;
      number %= std::max<uint64_t>(1, scale);
    }
    return false;
  }

  /// Bodies have a handful of families; a few comparisons find one before a hash is computed.
  uint32_t findStem(std::string_view stem) const {
    constexpr size_t kFew = 8;
    if (families_.size() > kFew || scoped_)
      return stems_.find(stem);
    for (size_t i = families_.size(); i-- > 0;)
      if (sameName(families_[i].stem, stem))
        return static_cast<uint32_t>(i);
    return NameMap::kNone;
  }

  uint32_t member(const Family &family, uint32_t familyNumber, uint32_t number) {
    uint32_t *slot = nullptr;
    if (family.firstMember != Family::kNone)
      slot = &members_[family.firstMember + number];
    else if (std::vector<uint32_t> &members = wide_[family.wide];
             number < members.size() || grow(members, familyNumber, number))
      slot = &members[number];
    else
      slot = &sparse_.try_emplace(uint64_t(familyNumber) << 32 | number, kNotNumbered).first->second;
    if (*slot == kNotNumbered)
      *slot = newRegister();
    return *slot;
  }

  /// Registers are mostly numbered without gaps; a body that leaves many pays with a slower lookup, not with memory.
  bool grow(std::vector<uint32_t> &members, uint32_t family, uint32_t number) {
    const size_t size = std::max<size_t>(size_t(number) + 1, members.size() * 2);
    const size_t total = wideTotal_ - members.size() + size;
    if (total > 16 * function_->instructions.size() + 1024)
      return false;
    wideTotal_ = total;
    members.resize(size, kNotNumbered);
    for (auto it = sparse_.begin(); it != sparse_.end();)
      if (it->first >> 32 == family && uint32_t(it->first) < size) {
        members[uint32_t(it->first)] = it->second;
        it = sparse_.erase(it);
      } else {
        ++it;
      }
    return true;
  }

  bool findLocal(std::string_view name, NameRef &ref) {
    // A plain register whose name ends in a digit goes before a family of the same stem.
    const bool digit = !name.empty() && isDigit(name.back());
    if (digit && !plainDigits_ && findMember(name, ref))
      return true;
    if (const uint32_t number = numbers_.find(name); number != NameMap::kNone) {
      ref = refs_[number];
      return true;
    }
    return digit && plainDigits_ && findMember(name, ref);
  }

  NameRef find(std::string_view name) {
    NameRef ref;
    if (findLocal(name, ref))
      return ref;
    // %v.x, %r.b0: a part of a register. Special registers (%tid.x) are declared nowhere.
    if (size_t dot = name.find('.'); dot != std::string_view::npos && findLocal(name.substr(0, dot), ref))
      return ref;
    ref = moduleNames_->find(name);
    if (ref.kind == NameRef::Kind::Other)
      result_.unknown.push_back(name);
    return ref;
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
    if (instruction.opcode == "bra") { // to a label, which is looked up in scopes of its own
      result_.names.resize(result_.names.size() + instruction.operands.size());
      return;
    }
    const bool writes = writesFirstOperand(instruction);
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      addNames(instruction.operands[i], writes && i == 0);
  }

  struct Hidden {
    std::string_view name;
    uint32_t number = NameMap::kNone; // what the name meant outside; kNone: it had no meaning
    bool isStem = false;
  };

  const Function *function_ = nullptr;
  const ModuleNames *moduleNames_ = nullptr;
  DefUse result_;
  NameMap numbers_, stems_; // into refs_, families_
  std::vector<NameRef> refs_;
  std::vector<Family> families_;
  std::vector<uint32_t> members_;                 // of families: the register, or kNotNumbered
  std::vector<std::vector<uint32_t>> wide_;       // the same, of families that declare more than a body can use
  uint32_t wideUsed_ = 0;                         // of wide_, in this body
  size_t wideTotal_ = 0;                          // their members
  std::unordered_map<uint64_t, uint32_t> sparse_; // family and member beyond those
  std::vector<Hidden> hidden_;                    // to be restored when their scopes end
  std::vector<size_t> scopes_;                    // hidden_.size() at the beginning of each open scope
  bool scoped_ = false;                           // there are scopes inside the body: not every family is in sight
  bool plainDigits_ = false;                      // some plain register's name ends in a digit
};

DefUseFinder::DefUseFinder() : resolver_(std::make_unique<Resolver>()) {}
DefUseFinder::~DefUseFinder() = default;

const DefUse &DefUseFinder::run(const Function &function, const ModuleNames &names) {
  return resolver_->run(function, names);
}

namespace {

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

/// The place of `name`, where it is known already; else null, and now it is.
NameRef *ModuleNames::add(std::string_view name, NameRef ref) {
  uint32_t &number = numbers_[name];
  if (number != NameMap::kNone)
    return &refs_[number];
  number = static_cast<uint32_t>(refs_.size());
  refs_.push_back(ref);
  return nullptr;
}

void ModuleNames::learn(const Module &module) {
  for (; variables_ < module.variables.size(); ++variables_) {
    const auto i = static_cast<uint32_t>(variables_);
    NameRef *known = add(module.variables[i].name, {NameRef::Kind::ModuleVariable, false, i});
    if (known && known->kind == NameRef::Kind::ModuleVariable && !module.variables[i].isExtern)
      known->index = i;
  }
  for (; functions_ < module.functions.size(); ++functions_) {
    const auto i = static_cast<uint32_t>(functions_);
    NameRef *known = add(module.functions[i].name, {NameRef::Kind::Function, false, i});
    if (known && known->kind == NameRef::Kind::Function && !module.functions[i].isDeclaration)
      known->index = i;
  }
  for (; aliases_ < module.aliases.size(); ++aliases_) {
    const Alias &alias = module.aliases[aliases_];
    if (const NameRef ref = find(alias.target); ref.kind != NameRef::Kind::Other)
      if (NameRef *known = add(alias.name, ref))
        *known = ref;
  }
}

DefUse computeDefUse(const Function &function, const ModuleNames &names) {
  return DefUseFinder().run(function, names);
}

} // namespace tenon::ptx
