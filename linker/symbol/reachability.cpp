// A breadth-first walk over names. A name in an operand is the function's own (register, label, parameter, local
// variable) before it is the module's. Taking an address counts as reaching, so indirect calls are covered;
// initialisers of reached variables are walked too (tables of function addresses). A shared variable declared in a body
// counts even when nothing uses it, one of the module only where it is named: so ptxas 13 counts them.
#include "linker/symbol/reachability.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::linker {
namespace {

class Walker {
public:
  Walker(const Object &object, Reachability &result) : object_(object), result_(result) {}

  void run(const ptx::Function &entry) {
    addFunction(entry);
    for (size_t i = 0; i < result_.functions.size(); ++i)
      walkBody(*result_.functions[i]);
    std::sort(result_.variables.begin(), result_.variables.end()); // elements of one vector: module order
  }

private:
  void addFunction(const ptx::Function &function) {
    if (seen_.insert(function.name).second)
      result_.functions.push_back(&function);
  }

  void walkBody(const ptx::Function &function) {
    user_ = &function;
    locals_.clear();
    registerStems_.clear();
    collectLocals(function);
    for (const ptx::Instruction &instruction : function.instructions) {
      where_ = object_.placeOf(instruction);
      for (const ptx::Operand &operand : instruction.operands)
        visitOperand(operand);
      if (instruction.opcode == "call")
        visitCallee(instruction);
    }
    for (const ptx::LabelTable &table : function.tables) {
      where_ = object_.placeOf(table);
      for (std::string_view entry : table.entries)
        visitName(entry);
    }
    for (const ptx::Variable &variable : function.declarations) {
      where_ = object_.placeOf(variable);
      if (variable.space == ptx::StateSpace::Shared)
        addLocalShared(variable);
      visitInitializers(variable);
    }
  }

  void collectLocals(const ptx::Function &function) {
    auto add = [this](const ptx::Variable &variable) {
      if (variable.registerCount)
        registerStems_.push_back(variable.name);
      else
        locals_.insert(variable.name);
    };
    for (const ptx::Variable &variable : function.parameters)
      add(variable);
    for (const ptx::Variable &variable : function.returns)
      add(variable);
    for (const ptx::Variable &variable : function.declarations)
      add(variable);
    for (const ptx::Statement &statement : function.statements)
      if (statement.kind == ptx::Statement::Kind::Label)
        locals_.insert(statement.name);
    for (const ptx::LabelTable &table : function.tables)
      locals_.insert(table.name);
  }

  bool isLocal(std::string_view name) const {
    if (locals_.contains(name))
      return true;
    // `.reg .b32 r<5>` declares r0 to r4.
    return std::any_of(registerStems_.begin(), registerStems_.end(), [name](std::string_view stem) {
      return name.size() > stem.size() && name.starts_with(stem) &&
             name.find_first_not_of("0123456789", stem.size()) == std::string_view::npos;
    });
  }

  void visitOperand(const ptx::Operand &operand) {
    if (operand.kind == ptx::Operand::Kind::Name && !isLocal(operand.name))
      visitName(operand.name);
    for (const ptx::Operand &element : operand.elements)
      visitOperand(element);
  }

  /// The callee of a direct call that nothing declares would be found nowhere else.
  void visitCallee(const ptx::Instruction &call) {
    for (const ptx::Operand &operand : call.operands) {
      if (operand.kind != ptx::Operand::Kind::Name)
        continue;
      std::string_view name = operand.name;
      if (!name.starts_with('%') && !isLocal(name) && !isModuleName(name))
        addUnresolved(name, /*isFunction=*/true, {});
      return; // what follows the callee are tables and prototypes
    }
  }

  bool isModuleName(std::string_view name) const {
    return object_.functions.contains(name) || object_.variables.contains(name) || object_.aliases.contains(name);
  }

  void visitName(std::string_view name) {
    if (auto alias = object_.aliases.find(name); alias != object_.aliases.end() && alias->second != name)
      name = alias->second;
    if (auto found = object_.functions.find(name); found != object_.functions.end()) {
      const ptx::Function &function = *found->second;
      if (function.isDeclaration)
        addUnresolved(name, /*isFunction=*/true, object_.placeOf(function));
      else
        addFunction(function);
    } else if (auto found = object_.variables.find(name); found != object_.variables.end()) {
      addVariable(*found->second);
    }
  }

  void addVariable(const ptx::Variable &variable) {
    if (!seen_.insert(variable.name).second)
      return;
    if (isDynamicShared(variable)) {
      if (!result_.dynamicShared)
        result_.dynamicShared = &variable;
    } else if (variable.isExtern) {
      seen_.erase(variable.name);
      addUnresolved(variable.name, /*isFunction=*/false, object_.placeOf(variable));
    } else {
      result_.variables.push_back(&variable);
      const ptx::Function *user = user_;
      user_ = nullptr;
      visitInitializers(variable);
      user_ = user;
    }
  }

  void addLocalShared(const ptx::Variable &variable) {
    if (isDynamicShared(variable)) {
      if (!result_.dynamicShared)
        result_.dynamicShared = &variable;
    } else {
      result_.localShared.push_back(&variable);
    }
  }

  void visitInitializers(const ptx::Variable &variable) {
    for (const ptx::Variable::Initializer &initializer : variable.initializers)
      if (initializer.value.kind == ptx::Operand::Kind::Name)
        visitName(initializer.value.name);
  }

  void addUnresolved(std::string_view name, bool isFunction, SourceLocation declaredAt) {
    if (seen_.insert(name).second)
      result_.unresolved.push_back({name, isFunction, user_, where_, std::move(declaredAt)});
  }

  const Object &object_;
  Reachability &result_;
  std::unordered_set<std::string_view> seen_; // module-level names
  std::unordered_set<std::string_view> locals_;
  std::vector<std::string_view> registerStems_;
  const ptx::Function *user_ = nullptr;
  SourceLocation where_;
};

} // namespace

uint64_t Reachability::staticSharedBytes() const {
  uint64_t bytes = 0;
  auto add = [&bytes](const ptx::Variable &variable) {
    uint64_t alignment = std::max<uint64_t>(1, variable.effectiveAlignment());
    bytes = (bytes + alignment - 1) / alignment * alignment + variable.bytes();
  };
  for (const ptx::Variable *variable : variables)
    if (variable->space == ptx::StateSpace::Shared)
      add(*variable);
  for (const ptx::Variable *variable : localShared)
    add(*variable);
  return bytes;
}

Reachability computeReachability(const Object &object, const ptx::Function &entry) {
  Reachability result;
  Walker(object, result).run(entry);
  return result;
}

} // namespace tenon::linker
