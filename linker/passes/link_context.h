// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the passes of one link share. Every field names the pass that fills it; later passes only read it.
#pragma once

#include "abi/parameter_layout.h"
#include "linker/assembler/ptxas.h"
#include "linker/job/link_job.h"
#include "linker/object/object_reader.h"
#include "linker/symbol/reachability.h"
#include "linker/symbol/symbol_table.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::linker {

/// What is proved about a binding (K-13). Numbers are those of fb::AccessVerdict.
enum class AccessVerdict : uint8_t { Unknown, ProvedReadOnly, Written, Unused };

/// An export matched with the entry point that implements it.
struct Kernel {
  uint32_t exportOrdinal = 0;
  const Object *object = nullptr;
  const ptx::Function *entry = nullptr;
  Reachability reachable;
  std::vector<AccessVerdict> access;  // checkAccess: by binding; empty where the parameters do not match the layout
  bool writes = false;                // checkAccess: writes any memory, or may
  const KernelTrace *trace = nullptr; // checkAccess: null where there is none
};

/// The objects of one name, target and origin: they share their symbols.
struct Variant {
  std::string name;
  abi::TargetArch arch;
  abi::Origin origin = abi::Origin::HandWritten;
  bool complete = true;                    // every object of it was loaded
  std::vector<const ObjectInput *> inputs; // in the job's order
  std::vector<const Object *> objects;     // those that were loaded, in the job's order; mergeObjects replaces some
  SymbolTable symbols;                     // resolveSymbols, mergeObjects
  bool hasDuplicates = false;              // resolveSymbols: K-12 was reported
  std::vector<Kernel> kernels;             // resolveEntries: ascending export ordinal
};

/// What assembleImages made of an object.
struct AssembledImage {
  std::string cubin;
  std::vector<KernelResources> kernels;
};

struct LinkContext {
  LinkContext(const LinkJob &job, Diagnostics &diagnostics) : job(job), diagnostics(diagnostics) {}

  const LinkJob &job;
  Diagnostics &diagnostics;

  // checkJob: by export ordinal; absent where the layout itself is wrong.
  std::vector<std::optional<abi::ParameterLayout>> parameterLayouts;
  // checkJob: the kernels that exports name, for the reader of objects.
  TraceRequests requests;
  // expandObjects: the job's objects, containers replaced by what they hold.
  std::vector<const ObjectInput *> inputs;
  std::vector<std::unique_ptr<ObjectInput>> expandedInputs;
  // loadInputs: by position in inputs; null where the object could not be read as PTX.
  std::vector<std::unique_ptr<Object>> objects;
  // mergeObjects: what it made of several objects.
  std::vector<std::unique_ptr<ObjectInput>> mergedInputs;
  std::vector<std::unique_ptr<Object>> mergedObjects;
  // formVariants: in the order of their first object.
  std::vector<Variant> variants;

  // assembleImages: lookup only; an object that is not here stays PTX.
  std::map<const Object *, AssembledImage> assembled;

  /// What the assembler said of a kernel; null where its object was not assembled.
  const KernelResources *resourcesOf(const Kernel &kernel) const;
  const abi::Export &exportOf(const Kernel &kernel) const { return job.exports[kernel.exportOrdinal]; }
};

inline const KernelResources *LinkContext::resourcesOf(const Kernel &kernel) const {
  auto image = assembled.find(kernel.object);
  if (image == assembled.end())
    return nullptr;
  for (const KernelResources &resources : image->second.kernels)
    if (resources.name == kernel.entry->name)
      return &resources;
  return nullptr;
}

/// Adds the note that every finding about an export carries: where it is declared.
inline Diagnostic &noteDeclared(Diagnostic &diagnostic, const abi::Export &declared) {
  if (declared.declaredAt.known())
    diagnostic.note(declared.declaredAt, "export '" + declared.name + "' is declared here");
  return diagnostic;
}

} // namespace tenon::linker
