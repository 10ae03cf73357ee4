// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One object of a job: bytes that were read, and what they are said to be.
#pragma once

#include "abi/layout.h"
#include "abi/target_arch.h"
#include "support/diagnostics.h"
#include "support/files/file_bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::linker {

/// One object as given: its bytes are already read. PTX, a cubin, or a container of them (fatbin, host object or
/// library with device code, archive, executable); anything else is refused by name.
struct ObjectInput {
  std::string path; // for diagnostics
  FileBytes bytes;
  std::string cubin;       // beside PTX: the same code, assembled already; empty: none
  abi::TargetArch target;  // the variant it is claimed for; number 0: for whatever its code is
  std::string variantName; // objects of one name and target are linked into one variant; empty: the target's name
  abi::Origin origin = abi::Origin::HandWritten;
  int32_t priority = 0;
  SourceLocation declaredAt; // where the declaration names it; may be unknown
  /// Exports this object's variant must provide, by name; empty: all of the executable's. A generated fallback provides
  /// only what it was generated for.
  std::vector<std::string> provides;
  /// `path` is a CUDA source: compileSources() makes PTX of it. link() itself compiles nothing.
  bool isSource = false;
  std::string sourcePath; // of PTX that was compiled here: the source's path; empty: none was
};

} // namespace tenon::linker
