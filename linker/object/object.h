// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An object in memory: what the job gave, and the PTX module that it parsed to.
#pragma once

#include "linker/access/parameter_slot.h"
#include "linker/access/trace/kernel_trace.h"
#include "linker/job/object_input.h"
#include "linker/object/body_facts.h"
#include "linker/object/name_index.h"
#include "ptx/module.h"

#include <memory>
#include <string_view>
#include <vector>

namespace tenon::linker {

/// Where a line of a merged object was written.
struct LineOrigin {
  const ObjectInput *input = nullptr;
  uint32_t line = 0;
};

/// A kernel that was traced with these slots.
struct TracedKernel {
  uint32_t function = 0; // into Module::functions
  ParameterSlots slots;
  KernelTrace trace;
};

struct Object {
  const ObjectInput *input = nullptr;          // borrowed from the job, or from the context for a merged one
  ptx::Module module;                          // its functions may have no bodies: bodyOf reads one again
  std::vector<BodyFacts> bodies;               // by function; entry points that nobody asked for have none
  std::vector<TracedKernel> traces;            // ascending by function
  std::vector<std::string_view> registerStems; // `%r` of `.reg .b32 %r<9>`, of all bodies
  std::string_view cubin;                      // given with the PTX, or alone; empty: none
  bool isMetadataOnly = false;   // the module says what a cubin's metadata says: entries without bodies (K-18)
  std::vector<LineOrigin> lines; // merged objects only: by line - 1
  // Module-level names.
  NameIndex<ptx::Function> functions; // the definition where there is one
  NameIndex<ptx::Variable> variables;
  NameIndex<ptx::Alias> aliases;
  bool definesTwice = false; // some name

  /// The PTX: it ends at its first NUL, if it has one.
  std::string_view text() const {
    const std::string_view bytes = input->bytes;
    return bytes.substr(0, bytes.find('\0'));
  }
  uint32_t indexOf(const ptx::Function &function) const {
    return static_cast<uint32_t>(&function - module.functions.data());
  }
  const BodyFacts &factsOf(const ptx::Function &function) const;
  /// A function with its statements and instructions. What it returns holds until the next call.
  const ptx::Function &bodyOf(uint32_t function) const;
  /// The trace of a kernel with these slots; null where there is none.
  const KernelTrace *traceOf(const ptx::Function &entry, const ParameterSlots &slots) const;
  SourceLocation place() const { return {input->path, 0, 0}; }
  SourceLocation placeOf(uint32_t line, uint32_t column) const;
  template <typename Named> SourceLocation placeOf(const Named &named) const {
    return placeOf(named.line, named.column);
  }

private:
  struct ReadAgain {
    uint32_t number = 0;
    ptx::Arena arena;
    ptx::Function function;
  };
  mutable std::unique_ptr<ReadAgain> readAgain_;
};

/// The word after the first `.target` that begins a line; empty without one.
std::string_view targetDirective(std::string_view text);

/// Parses an object's bytes as PTX, with all bodies, and indexes its names; null after an error. A link reads objects
/// with ObjectReader, which keeps no bodies.
std::unique_ptr<Object> parseObject(const ObjectInput &input, Diagnostics &diagnostics);

/// Fills functions, variables and aliases from the module.
void indexNames(Object &object);
/// Fills bodies and registerStems from a module that has its bodies.
void indexBodies(Object &object);

/// `.extern .shared x[]`: the block whose size the launch gives.
bool isDynamicShared(const ptx::Variable &variable);

} // namespace tenon::linker
