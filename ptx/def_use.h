// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every name in a body stands for, and which names an instruction writes.
//
// Registers get dense numbers in order of first sight. Names are resolved in the scope where they stand: `{ .reg .b32
// t; }` twice is two registers, and `.reg .b64 %rd<9>` declares %rd0 to %rd8. Labels and special registers stay Other.
#pragma once

#include "ptx/module.h"
#include "ptx/words/name_map.h"

#include <memory>
#include <span>

namespace tenon::ptx {

struct NameRef {
  enum class Kind : uint8_t {
    Other,          // label, table, special register, or a name that nothing declares
    Register,       // index: the register's dense number
    Parameter,      // index: into Function::parameters
    Return,         // index: into Function::returns
    Variable,       // index: into Function::declarations (.local, .shared, .param of a call, ...)
    ModuleVariable, // index: into Module::variables
    Function,       // index: into Module::functions; the definition where there is one
  };
  Kind kind = Kind::Other;
  bool isDefinition = false; // the instruction writes it
  uint32_t index = 0;
};

/// Names of the module level, for lookup.
class ModuleNames {
public:
  ModuleNames() = default;
  explicit ModuleNames(const Module &module) { learn(module); }
  /// Takes in what the module has got since it was learnt last.
  void learn(const Module &module);
  NameRef find(std::string_view name) const {
    const uint32_t number = numbers_.find(name);
    return number == NameMap::kNone ? NameRef() : refs_[number];
  }

private:
  NameRef *add(std::string_view name, NameRef ref);

  NameMap numbers_;
  std::vector<NameRef> refs_;
  size_t variables_ = 0, functions_ = 0, aliases_ = 0; // learnt
};

struct DefUse {
  uint32_t registerCount = 0;
  std::vector<uint32_t> definitions; // [registers] instructions that write it
  std::vector<ScalarType> types;     // [registers] as declared
  /// Names of all instructions: of one instruction the predicate first, if it has one, then the names of its operands,
  /// those of vectors, lists and addresses included, from left to right.
  std::vector<NameRef> names;
  std::vector<uint32_t> first;           // [instructions + 1] into names
  std::vector<std::string_view> unknown; // names that nothing declares, special registers among them
  bool namesModule = false;              // some name is of a variable or a function of the module

  std::span<const NameRef> namesOf(uint32_t instruction) const {
    return {names.data() + first[instruction], first[instruction + 1] - first[instruction]};
  }
};

/// Whether operand 0 (of `call`: the returned values) is written. An opcode that is not known is taken to write.
inline bool writesFirstOperand(const Instruction &instruction) {
  if (instruction.operands.empty())
    return false;
  switch (instruction.facts.first) {
  case FirstOperand::Result:
    return instruction.operands.front().kind != Operand::Kind::Address;
  case FirstOperand::Source:
    return false;
  case FirstOperand::ResultList: // (results), callee, ...
    return instruction.operands.front().kind == Operand::Kind::List;
  }
}

/// Resolves functions with bodies, one after the other, each in time linear in its size; keeps its memory in between.
class DefUseFinder {
public:
  DefUseFinder();
  ~DefUseFinder();
  /// What it returns is overwritten by the next call.
  const DefUse &run(const Function &function, const ModuleNames &names);

private:
  class Resolver;
  std::unique_ptr<Resolver> resolver_;
};

/// Resolves one function with a body.
DefUse computeDefUse(const Function &function, const ModuleNames &names);

} // namespace tenon::ptx
