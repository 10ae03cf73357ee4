// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/pointer_search.h"

#include "linker/access/origins.h"
#include "linker/access/trace/module_tracer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace tenon::linker {
namespace {

/// A place in a parameter that a register holds the address of.
struct Place {
  uint32_t parameter = 0;
  int64_t offset = 0;
  bool isComputed = false; // it lies somewhere behind, at an index
};

/// Where a kernel loads 8 bytes from its structs. Addresses are followed through copies and sums: a struct that is
/// declared __grid_constant__ is read through a register, and one that holds a table at an index.
class StructLoads {
public:
  explicit StructLoads(const ptx::Function &entry) : entry_(entry), isTable_(entry.parameters.size()) {
    for (uint32_t i = 0; i < entry.parameters.size(); ++i)
      if (isAggregate(entry.parameters[i]) && entry.parameters[i].effectiveAlignment() % 8 == 0)
        places_[entry.parameters[i].name] = {i, 0};
    if (places_.empty())
      return;
    for (const ptx::Instruction &instruction : entry.instructions)
      if (instruction.opcode == "ld")
        load(instruction);
      else
        copy(instruction);
    takeTables();
    std::sort(found_.begin(), found_.end(), [](const ParameterSlot &a, const ParameterSlot &b) {
      return std::pair(a.parameter, a.offset) < std::pair(b.parameter, b.offset);
    });
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  }
  ParameterSlots take() { return std::move(found_); }
  std::vector<bool> takeIsTable() { return std::move(isTable_); }

private:
  const Place *find(const ptx::Operand &operand) const {
    const auto at = operand.kind == ptx::Operand::Kind::Name ? places_.find(operand.name) : places_.end();
    return at == places_.end() ? nullptr : &at->second;
  }

  void copy(const ptx::Instruction &instruction) {
    const auto &operands = instruction.operands;
    if (operands.size() < 2 || operands[0].kind != ptx::Operand::Kind::Name)
      return;
    const Place *from = find(operands[1]);
    if (instruction.opcode == "add" && operands.size() == 3) {
      const bool isNumber = operands[2].kind == ptx::Operand::Kind::Integer;
      if (const Place *base = from ? from : find(operands[2]))
        places_[operands[0].name] = {base->parameter, base->offset + (isNumber ? int64_t(operands[2].bits) : 0),
                                     base->isComputed || !isNumber};
    } else if (from && (instruction.opcode == "mov" || instruction.opcode == "cvta")) {
      places_[operands[0].name] = {from->parameter, from->offset + operands[1].offset, from->isComputed};
    }
  }

  void load(const ptx::Instruction &instruction) {
    if (instruction.operands.size() < 2 || instruction.operands[1].elements.empty())
      return;
    const ptx::Operand &address = instruction.operands[1];
    const Place *from = find(address.elements[0]);
    if (!from)
      return;
    const ptx::Operand &result = instruction.operands[0];
    const size_t count = result.kind == ptx::Operand::Kind::Vector ? result.elements.size() : 1;
    const int64_t begin = from->offset + address.offset;
    const bool isWord =
        instruction.hasModifier("b64") || instruction.hasModifier("u64") || instruction.hasModifier("s64");
    if (isWord && from->isComputed) {
      tables_.push_back({from->parameter, begin});
      isTable_[from->parameter] = true;
    } else if (isWord) {
      for (size_t i = 0; i < count; ++i)
        take(from->parameter, begin + int64_t(8 * i));
    } else if (!from->isComputed) {
      fields_.insert({from->parameter, begin & ~int64_t(7)});
    }
  }

  void take(uint32_t parameter, int64_t offset) {
    if (offset >= 0 && offset % 8 == 0 && offset + 8 <= int64_t(entry_.parameters[parameter].bytes()))
      found_.push_back({.parameter = parameter, .offset = uint64_t(offset), .isPointer = true});
  }

  /// A table ends where the kernel reads something else.
  void takeTables() {
    constexpr int64_t kMostPointers = 256;
    for (const Place &table : tables_)
      for (int64_t i = 0; i < kMostPointers && !fields_.contains({table.parameter, table.offset + 8 * i}); ++i)
        take(table.parameter, table.offset + 8 * i);
  }

  const ptx::Function &entry_;
  std::map<std::string_view, Place> places_;      // parameters, and registers with an address in one
  std::vector<Place> tables_;                     // where those begin that are read at an index
  std::set<std::pair<uint32_t, int64_t>> fields_; // 8 bytes of which some are read by themselves
  std::vector<bool> isTable_;
  ParameterSlots found_;
};

/// The memory in which a kernel keeps a pointer for itself, as one name; empty: ld or st of anything else.
std::string_view ownMemory(const ptx::Instruction &instruction) {
  for (const std::string_view space : {".shared", ".local"})
    if (instruction.hasModifier(space.substr(1)) &&
        (instruction.hasModifier("b64") || instruction.hasModifier("u64") || instruction.hasModifier("s64")))
      return space;
  return "";
}

/// `and` with a number that keeps all bits by which addresses differ, but perhaps low ones: tags are taken off.
bool takesTagOff(const ptx::Instruction &instruction) {
  constexpr uint64_t kAddressBits = 0x7fffffffff00; // 47 bits, as CUDA gives addresses; it aligns to 256 bytes
  return instruction.opcode == "and" && instruction.hasModifier("b64") && instruction.operands.size() == 3 &&
         instruction.operands[2].kind == ptx::Operand::Kind::Integer &&
         (instruction.operands[2].bits & kAddressBits) == kAddressBits;
}

/// Which parameters a kernel chooses from (`pick ? a : b`): they meet in one register, by selections, by copies on
/// several paths or in shared or thread-private memory, and nothing is added to them but numbers. What is chosen where
/// a pointer may be is a pointer, too. And which are addresses once their tags are taken off.
class Choices {
public:
  explicit Choices(const ptx::Function &entry) {
    for (uint32_t i = 0; i < entry.parameters.size(); ++i)
      if (isPointerWide(entry.parameters[i]))
        roots_[entry.parameters[i].name] = {i};
    for (bool grows = true; grows;) { // a loop hands registers back
      grows = false;
      for (const ptx::Instruction &instruction : entry.instructions) {
        grows |= follow(instruction);
        followUntagged(instruction);
      }
    }
  }
  bool isTagged(uint32_t parameter) const { return tagged_.contains(parameter); }

  /// Of the parameters that meet `parameter` in a register.
  std::set<uint32_t> with(uint32_t parameter) const {
    std::set<uint32_t> out;
    for (const auto &[name, roots] : roots_)
      if (roots.contains(parameter))
        out.insert(roots.begin(), roots.end());
    return out;
  }

private:
  bool follow(const ptx::Instruction &instruction) {
    const auto &operands = instruction.operands;
    const std::string_view opcode = instruction.opcode;
    const std::string_view memory = ownMemory(instruction);
    if (opcode == "st" && operands.size() == 2 && !memory.empty())
      return operands[1].kind == ptx::Operand::Kind::Name && take(memory, operands[1].name);
    if (operands.size() < 2 || operands[0].kind != ptx::Operand::Kind::Name)
      return false;
    if (opcode == "ld" && instruction.hasModifier("param"))
      return operands[1].offset == 0 && !operands[1].elements.empty() && take(operands[0], operands[1].elements[0]);
    if (opcode == "ld" && !memory.empty())
      return take(operands[0].name, memory);
    if (opcode == "mov" || opcode == "cvta" || takesTagOff(instruction))
      return operands[1].offset == 0 && take(operands[0], operands[1]);
    if (opcode == "add" && operands.size() == 3 && operands[2].kind == ptx::Operand::Kind::Integer)
      return take(operands[0], operands[1]);
    if (opcode != "selp" || operands.size() < 3)
      return false;
    const bool first = take(operands[0], operands[1]);
    return take(operands[0], operands[2]) || first;
  }
  /// Whether `to` has more roots than before.
  bool take(const ptx::Operand &to, const ptx::Operand &from) {
    return from.kind == ptx::Operand::Kind::Name && take(to.name, from.name);
  }
  bool take(std::string_view to, std::string_view from) {
    const auto at = roots_.find(from);
    if (at == roots_.end() || to == from)
      return false;
    const std::set<uint32_t> roots = at->second; // a new register may move it
    std::set<uint32_t> &out = roots_[to];
    const size_t before = out.size();
    out.insert(roots.begin(), roots.end());
    return out.size() > before;
  }

  /// What such an `and` leaves, and what no other parameter is added to, is the base of an address.
  void followUntagged(const ptx::Instruction &instruction) {
    const auto &operands = instruction.operands;
    for (const ptx::Operand &operand : operands)
      if (operand.kind == ptx::Operand::Kind::Address && !operand.elements.empty())
        if (const auto at = untagged_.find(operand.elements[0].name); at != untagged_.end())
          tagged_.insert(at->second.begin(), at->second.end());
    if (operands.size() < 2 || operands[0].kind != ptx::Operand::Kind::Name)
      return;
    if (takesTagOff(instruction)) {
      if (const auto at = roots_.find(operands[1].name); at != roots_.end())
        untagged_[operands[0].name].insert(at->second.begin(), at->second.end());
    } else if (instruction.opcode == "mov" || instruction.opcode == "cvta" || instruction.opcode == "add") {
      const bool isFirst = untagged_.contains(operands[1].name);
      const size_t base = isFirst || operands.size() < 3 ? 1 : 2, other = 3 - base;
      const auto at = untagged_.find(operands[base].name);
      if (at != untagged_.end() && (other >= operands.size() || !roots_.contains(operands[other].name))) {
        const std::set<uint32_t> roots = at->second;
        untagged_[operands[0].name].insert(roots.begin(), roots.end());
      }
    }
  }

  std::map<std::string_view, std::set<uint32_t>> roots_;    // parameters, and what holds one of several
  std::map<std::string_view, std::set<uint32_t>> untagged_; // registers: of whose bits but tags they are a sum
  std::set<uint32_t> tagged_;
};

class Search {
public:
  Search(const ptx::Function &entry, ModuleTracer &tracer) : entry_(entry), tracer_(tracer), choices_(entry) {
    StructLoads loads(entry);
    loads_ = loads.take();
    out_.isTable = loads.takeIsTable();
    isSure_.resize(loads_.size());
  }

  PointerSearch run() {
    for (uint32_t i = 0; i < entry_.parameters.size(); ++i)
      scalars_.push_back({.parameter = i});
    lookForBases();
    trace();
    while (takeFirstOfJoint() || takeChosen())
      trace();
    return std::move(out_);
  }

private:
  /// A trace tells 56 slots apart: pointers in structs are looked at a few at a time.
  void lookForBases() {
    const size_t room = scalars_.size() < kTrackedSlots ? kTrackedSlots - scalars_.size() : 1;
    size_t first = 0;
    do {
      const size_t count = std::min(room, loads_.size() - first);
      ParameterSlots slots = scalars_;
      slots.insert(slots.end(), loads_.begin() + long(first), loads_.begin() + long(first + count));
      const KernelTrace found = tracer_.trace(entry_, slots);
      for (size_t i = 0; i < count; ++i)
        isSure_[first + i] = found.slots[scalars_.size() + i].soleBase || found.slots[scalars_.size() + i].choiceBase;
      if (first == 0)
        for (size_t i = 0; i < scalars_.size(); ++i)
          scalars_[i].isPointer =
              isPointerWide(entry_.parameters[i]) &&
              (entry_.parameters[i].hasPtr || found.slots[i].soleBase || choices_.isTagged(uint32_t(i)));
      first += count;
    } while (first < loads_.size());
  }

  /// With what is known to be a pointer now.
  void trace() {
    out_.slots = scalars_;
    out_.structs.clear();
    for (size_t i = 0; i < loads_.size(); ++i) {
      if (!isSure_[i])
        continue;
      if (out_.structs.empty() || out_.structs.back().parameter != loads_[i].parameter)
        out_.structs.push_back({.parameter = loads_[i].parameter, .pointers = {}});
      out_.structs.back().pointers.push_back(out_.slots.size());
      out_.slots.push_back(loads_[i]);
    }
    out_.trace = tracer_.trace(entry_, out_.slots);
  }

  /// An address that no pointer goes into: the first that does is one. False: there is no such address.
  bool takeFirstOfJoint() {
    for (size_t i = 0; i < scalars_.size(); ++i) {
      const SlotAccess &access = out_.trace.slots[i];
      if (!scalars_[i].isPointer && isPointerWide(entry_.parameters[i]) && access.jointBase && access.aloneInAddress)
        return scalars_[i].isPointer = true;
    }
    return false;
  }

  /// What an address is chosen from beside a pointer. False: nothing new.
  bool takeChosen() {
    bool isNew = false;
    for (uint32_t i = 0; i < scalars_.size(); ++i) {
      if (!scalars_[i].isPointer)
        continue;
      for (const uint32_t other : choices_.with(i)) {
        const bool isTaken = !scalars_[other].isPointer && out_.trace.slots[other].jointBase;
        scalars_[other].isPointer |= isTaken;
        isNew |= isTaken;
      }
    }
    return isNew;
  }

  const ptx::Function &entry_;
  ModuleTracer &tracer_;
  const Choices choices_;
  ParameterSlots loads_;     // 8 bytes of structs
  std::vector<bool> isSure_; // by loads_: pointers
  ParameterSlots scalars_;   // one for each parameter
  PointerSearch out_;
};

} // namespace

bool isPointerWide(const ptx::Variable &parameter) {
  return parameter.bytes() == 8 && !parameter.isArray && parameter.type != ptx::ScalarType::F64;
}

bool isAggregate(const ptx::Variable &parameter) {
  return parameter.isArray ? parameter.bytes() != 2 : parameter.bytes() > 8;
}

const PointerSearch::Struct *PointerSearch::structOf(size_t parameter) const {
  const auto at =
      std::find_if(structs.begin(), structs.end(), [&](const Struct &s) { return s.parameter == parameter; });
  return at == structs.end() ? nullptr : &*at;
}

PointerSearch findPointers(const ptx::Function &entry, ModuleTracer &tracer) {
  return Search(entry, tracer).run();
}

} // namespace tenon::linker
