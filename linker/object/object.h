// An object in memory: what the job gave, and the PTX module that it parsed to.
#pragma once

#include "linker/link.h"
#include "ptx/module.h"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon::linker {

/// Where a line of a merged object was written.
struct LineOrigin {
  const ObjectInput *input = nullptr;
  uint32_t line = 0;
};

struct Object {
  const ObjectInput *input = nullptr; // borrowed from the job, or from the context for a merged one
  ptx::Module module;
  std::string_view cubin;        // given with the PTX, or alone; empty: none
  bool isMetadataOnly = false;   // the module says what a cubin's metadata says: entries without bodies (K-18)
  std::vector<LineOrigin> lines; // merged objects only: by line - 1
  // Module-level names, for lookup only: nothing is ever listed in hash order.
  std::unordered_map<std::string_view, const ptx::Function *> functions; // the definition where there is one
  std::unordered_map<std::string_view, const ptx::Variable *> variables;
  std::unordered_map<std::string_view, std::string_view> aliases; // name -> target

  /// The PTX: it ends at its first NUL, if it has one.
  std::string_view text() const { return std::string_view(input->bytes).substr(0, input->bytes.find('\0')); }
  SourceLocation place() const { return {input->path, 0, 0}; }
  SourceLocation placeOf(uint32_t line, uint32_t column) const;
  template <typename Named> SourceLocation placeOf(const Named &named) const {
    return placeOf(named.line, named.column);
  }
};

/// The word after the first `.target` that begins a line; empty without one.
std::string_view targetDirective(std::string_view text);

/// Parses an object's bytes as PTX and indexes its names; null after an error.
std::unique_ptr<Object> parseObject(const ObjectInput &input, Diagnostics &diagnostics);

/// `.extern .shared x[]`: the block whose size the launch gives.
bool isDynamicShared(const ptx::Variable &variable);

} // namespace tenon::linker
