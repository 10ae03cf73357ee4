// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A breadth-first walk over names, from body to body by the names that each uses (body_facts.h). Taking an address
// counts as reaching, so indirect calls are covered; initialisers of reached variables are walked too (tables of
// function addresses). A shared variable declared in a body counts even when nothing uses it, one of the module only
// where it is named: so ptxas 13 counts them.
#include "linker/symbol/reachability.h"

#include "support/placement.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tenon::linker {
namespace {

constexpr uint64_t kLeastDynamicAlignment = 16; // of an array of dynamic shared memory, whatever it says

class Walker {
public:
  Walker(const Object &object, Reachability &result) : object_(object), result_(result) {}

  void run(const ptx::Function &entry) {
    entry_ = entry.name;
    result_.functions.push_back(&entry);
    for (size_t i = 0; i < result_.functions.size(); ++i)
      walkBody(*result_.functions[i]);
    std::sort(result_.variables.begin(), result_.variables.end()); // elements of one vector: module order
    for (const ptx::Variable &variable : object_.module.variables)
      if (isDynamicShared(variable))
        result_.dynamicAlignment =
            std::max({result_.dynamicAlignment, kLeastDynamicAlignment, uint64_t(variable.effectiveAlignment())});
  }

private:
  void addFunction(const ptx::Function &function) {
    if (function.name != entry_ && seen_.insert(function.name).second)
      result_.functions.push_back(&function);
  }

  void walkBody(const ptx::Function &function) {
    user_ = &function;
    const BodyFacts &facts = object_.factsOf(function);
    for (const NameUse &use : facts.uses) {
      place_ = &use;
      if (!use.isUndeclared)
        visitName(use.name);
      else if (!isModuleName(use.name))
        addUnresolved(use.name, /*isFunction=*/true, {});
    }
    place_ = nullptr;
    for (const ptx::Variable &variable : facts.shared)
      addLocalShared(variable);
  }

  bool isModuleName(std::string_view name) const {
    return object_.functions.contains(name) || object_.variables.contains(name) || object_.aliases.contains(name);
  }

  void visitName(std::string_view name) {
    if (const ptx::Alias *alias = object_.aliases.find(name); alias && alias->target != name)
      name = alias->target;
    if (const ptx::Function *function = object_.functions.find(name)) {
      if (function->isDeclaration)
        addUnresolved(name, /*isFunction=*/true, object_.placeOf(*function));
      else
        addFunction(*function);
    } else if (const ptx::Variable *variable = object_.variables.find(name)) {
      addVariable(*variable);
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
      const ptx::Function *user = std::exchange(user_, nullptr);
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
      result_.unresolved.push_back(
          {name, isFunction, user_, place_ ? object_.placeOf(*place_) : SourceLocation(), std::move(declaredAt)});
  }

  const Object &object_;
  Reachability &result_;
  std::string_view entry_;
  std::unordered_set<std::string_view> seen_; // module-level names besides; most kernels use none
  const ptx::Function *user_ = nullptr;
  const NameUse *place_ = nullptr;
};

} // namespace

uint64_t Reachability::staticSharedBytes() const {
  Placement places;
  auto add = [&places](const ptx::Variable &variable) {
    places.place(variable.bytes(), variable.effectiveAlignment());
  };
  for (const ptx::Variable *variable : variables)
    if (variable->space == ptx::StateSpace::Shared)
      add(*variable);
  for (const ptx::Variable *variable : localShared)
    add(*variable);
  if (places.end() != 0)
    places.place(0, dynamicAlignment);
  return places.end();
}

Reachability computeReachability(const Object &object, const ptx::Function &entry) {
  Reachability result;
  Walker(object, result).run(entry);
  return result;
}

} // namespace tenon::linker
