// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/def_use.h"

#include "ptx/words/characters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace tenon::ptx {
namespace {

/// Registers `stem<count>`; members are numbered when they are first seen.
struct Family {
  std::string_view stem;
  ScalarType type = ScalarType::None;
  uint32_t count = 0;
  uint32_t firstMember = kNone; // into Resolver::members_; kNone: too many for this body, see wide
  uint32_t wide = kNone;        // into Resolver::wide_

  static constexpr uint32_t kNone = UINT32_MAX;
};

constexpr uint32_t kNotNumbered = UINT32_MAX;

/// Masks of the first bytes of 4 in memory.
constexpr uint32_t kStemBytes[] = {0, std::bit_cast<uint32_t>(std::array<uint8_t, 4>{255, 0, 0, 0}),
                                   std::bit_cast<uint32_t>(std::array<uint8_t, 4>{255, 255, 0, 0}),
                                   std::bit_cast<uint32_t>(std::array<uint8_t, 4>{255, 255, 255, 0}), UINT32_MAX};

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
      if (statement.kind == Statement::Kind::Instruction) [[likely]]
        resolve(function.instructions[statement.index]);
      else
        visit(statement);
    *nextFirst_ = static_cast<uint32_t>(nextName_ - result_.names.data());
    result_.names.resize(*nextFirst_);
    return result_;
  }

private:
  /// What stems_ says of a stem of 2 to 4 bytes, as long as nothing changes there.
  struct ShortStem {
    uint32_t stem = 0;                   // its bytes; 0: none
    uint32_t count = 0, firstMember = 0; // of a family whose members have their places
    ScalarType type = ScalarType::None;
  };

  void reset() {
    result_.registerCount = 0;
    result_.definitions.clear();
    result_.types.clear();
    const size_t instructions = function_->instructions.size();
    result_.names.resize(4 * instructions + 64); // mostly enough
    nextName_ = result_.names.data();
    lastName_ = nextName_ + result_.names.size();
    result_.first.resize(instructions + 1);
    nextFirst_ = result_.first.data();
    result_.unknown.clear();
    result_.namesModule = false;
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
    shortStems_ = {};
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
      ref = {NameRef::Kind::Register, false, newRegister(variable.type)};
      plainDigits_ |= !variable.name.empty() && is(variable.name.back(), kDigit);
    }
    uint32_t &number = numbers_[variable.name];
    if (!scopes_.empty())
      hidden_.push_back({variable.name, number, false});
    number = static_cast<uint32_t>(refs_.size());
    refs_.push_back(ref);
  }

  /// Stems have a map of their own: a register may carry the name of a stem.
  void declareFamily(const Variable &variable) {
    shortStems_ = {};
    uint32_t &number = stems_[variable.name];
    if (!scopes_.empty())
      hidden_.push_back({variable.name, number, true});
    number = static_cast<uint32_t>(families_.size());
    Family family{.stem = variable.name, .type = variable.type, .count = variable.registerCount};
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
      if (last.isStem)
        shortStems_ = {};
      (last.isStem ? stems_ : numbers_)[last.name] = last.number; // kNone: it has no meaning again
    }
    scopes_.pop_back();
  }

  uint32_t newRegister(ScalarType type) {
    result_.definitions.push_back(0);
    result_.types.push_back(type);
    return result_.registerCount++;
  }

  /// A member of a family, or nothing.
  bool findMember(std::string_view name, NameRef &ref) {
    size_t digits = name.size();
    uint64_t number = 0, scale = 1;
    for (; digits && is(name[digits - 1], kDigit) && scale <= 1'000'000'000; scale *= 10)
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

  /// A member that the parser has split off its stem, where its family is in sight and has a place for it; else
  /// kNotNumbered. Most names are such, and their stems are a handful.
  [[gnu::always_inline]] uint32_t splitMember(std::string_view name, NumberedName numbered) {
    uint32_t stem;
    std::memcpy(&stem, name.data(), 4); // the name has 3 bytes, and something stands behind it
    stem &= kStemBytes[numbered.stemSize];
    ShortStem &known = shortStems_[(stem * 0x9e3779b1u) >> 28];
    if (known.stem != stem) [[unlikely]]
      learnStem(known, stem, name.substr(0, numbered.stemSize));
    if (numbered.number >= known.count) [[unlikely]]
      return kNotNumbered;
    uint32_t &slot = members_[known.firstMember + numbered.number];
    if (slot == kNotNumbered)
      slot = newRegister(known.type);
    return slot;
  }
  void learnStem(ShortStem &known, uint32_t stem, std::string_view text) {
    known = {.stem = stem};
    if (const uint32_t found = stems_.find(text);
        found != NameMap::kNone && families_[found].firstMember != Family::kNone)
      known = {stem, families_[found].count, families_[found].firstMember, families_[found].type};
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
      *slot = newRegister(family.type);
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
    const bool digit = !name.empty() && is(name.back(), kDigit);
    if (digit && !plainDigits_ && findMember(name, ref))
      return true;
    if (const uint32_t number = numbers_.find(name); number != NameMap::kNone) {
      ref = refs_[number];
      return true;
    }
    return digit && plainDigits_ && findMember(name, ref);
  }

  /// What a name stands for goes behind the names before it.
  [[gnu::always_inline]] void add(std::string_view name, NumberedName numbered, bool written) {
    NameRef &ref = nextName();
    if (numbered.stemSize != 0 && !plainDigits_) [[likely]]
      if (const uint32_t found = splitMember(name, numbered); found != kNotNumbered) [[likely]] {
        ref.kind = NameRef::Kind::Register;
        ref.isDefinition = written;
        ref.index = found;
        result_.definitions[found] += written;
        return;
      }
    addAnything(name, written, ref);
  }
  [[gnu::noinline]] void addAnything(std::string_view name, bool written, NameRef &ref) {
    ref = findAnything(name);
    ref.isDefinition = written;
    if (written && ref.kind == NameRef::Kind::Register)
      ++result_.definitions[ref.index];
  }

  NameRef findAnything(std::string_view name) {
    NameRef ref;
    if (const size_t dot = name.find('.'); dot != std::string_view::npos) {
      // %v.x, %r.b0: a part of a register. Special registers (%tid.x) are declared nowhere.
      if (findLocal(name.substr(0, dot), ref))
        return ref;
    } else {
      if (findLocal(name, ref))
        return ref;
      ref = moduleNames_->find(name);
      result_.namesModule |= ref.kind != NameRef::Kind::Other;
    }
    if (ref.kind == NameRef::Kind::Other)
      result_.unknown.push_back(name);
    return ref;
  }

  [[gnu::always_inline]] NameRef &nextName() {
    if (nextName_ == lastName_) [[unlikely]]
      makeRoom();
    return *nextName_++;
  }
  [[gnu::noinline]] void makeRoom() {
    const size_t count = result_.names.size();
    result_.names.resize(2 * count);
    nextName_ = result_.names.data() + count;
    lastName_ = result_.names.data() + 2 * count;
  }

  void addElements(const Operand &operand, bool written) {
    written &= operand.kind != Operand::Kind::Address;
    for (const Operand &element : operand.elements)
      if (element.kind == Operand::Kind::Name)
        add(element.name, element.numbered, written);
      else
        addElements(element, written);
  }

  [[gnu::always_inline]] void resolve(const Instruction &instruction) {
    *nextFirst_++ = static_cast<uint32_t>(nextName_ - result_.names.data());
    if (!instruction.predicate.empty())
      add(instruction.predicate, instruction.predicateNumbered, false);
    if (instruction.facts.control == Control::Branch) { // to a label, which is looked up in scopes of its own
      for (size_t i = 0; i < instruction.operands.size(); ++i)
        nextName() = {};
      return;
    }
    bool writes = writesFirstOperand(instruction);
    for (const Operand &operand : instruction.operands) {
      if (operand.kind == Operand::Kind::Name)
        add(operand.name, operand.numbered, writes);
      else if (!operand.elements.empty())
        addElements(operand, writes);
      writes = false;
    }
  }

  struct Hidden {
    std::string_view name;
    uint32_t number = NameMap::kNone; // what the name meant outside; kNone: it had no meaning
    bool isStem = false;
  };

  const Function *function_ = nullptr;
  const ModuleNames *moduleNames_ = nullptr;
  DefUse result_;
  NameRef *nextName_ = nullptr, *lastName_ = nullptr; // into result_.names, which has room for more
  uint32_t *nextFirst_ = nullptr;                     // into result_.first
  NameMap numbers_, stems_;                           // into refs_, families_
  std::vector<NameRef> refs_;
  std::array<ShortStem, 16> shortStems_;
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
