// An object in memory: what the job gave, and the PTX module that it parsed to.
#pragma once

#include "linker/link.h"
#include "ptx/module.h"

#include <string_view>
#include <unordered_map>

namespace tenon::linker {

struct Object {
  const ObjectInput *input = nullptr; // borrowed from the job
  ptx::Module module;
  // Module-level names, for lookup only: nothing is ever listed in hash order.
  std::unordered_map<std::string_view, const ptx::Function *> functions; // the definition where there is one
  std::unordered_map<std::string_view, const ptx::Variable *> variables;
  std::unordered_map<std::string_view, std::string_view> aliases; // name -> target

  SourceLocation place() const { return {input->path, 0, 0}; }
  SourceLocation placeOf(uint32_t line, uint32_t column) const { return {input->path, line, column}; }
  template <typename Named> SourceLocation placeOf(const Named &named) const {
    return placeOf(named.line, named.column);
  }
};

} // namespace tenon::linker
