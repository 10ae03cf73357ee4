// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects and declarations in, executable out. The first file to read: link.cpp lists the passes in order.
#pragma once

#include "abi/layout.h"
#include "abi/target_arch.h"
#include "linker/image_policy.h"
#include "linker/link_map.h"
#include "support/diagnostics.h"
#include "support/file_bytes.h"
#include "support/result.h"

#include <cstdint>
#include <memory>
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

/// How CUDA sources become PTX (compileSources).
struct SourceOptions {
  std::string compiler;                 // nvcc or clang; empty: nvcc, searched for
  std::vector<std::string> flags;       // passed on
  std::string cacheFolder;              // empty: SourceCache::defaultFolder(); "none": nothing is kept
  std::vector<abi::TargetArch> targets; // of sources that are given without one
  std::string compiledRoot; // a folder that holds sources compiled before, as --reproduce leaves them; empty: none
};

struct LinkJob {
  std::string name;                 // the executable's
  std::vector<abi::Export> exports; // ordinals dense from 0; declaredAt is quoted in notes
  std::vector<ObjectInput> objects;
  bool strict = false;    // what cannot be proved is an error, not a warning (K-13, K-15)
  bool proveOnly = false; // nothing is assembled or written: the output is empty
  /// A library decides nothing by what is installed: without a word from its caller, nothing is assembled.
  ImagePolicy imagePolicy = ImagePolicy::Ptx;
  std::string ptxasPath; // empty: searched for (findPtxas)
  uint32_t jobs = 0;     // compilers or assemblers that run at once; 0: one per core. The output does not depend on it
  SourceOptions sources;
  std::vector<std::string> inputFiles; // every file that was read to make this job, for depfiles; link() ignores it
};

struct LinkOutput {
  /// What the link knew. To take it apart takes time that a program which ends next can save.
  std::shared_ptr<const void> kept;
  std::vector<uint8_t> executable; // a TNX1 buffer; same job and assembler, same bytes. Empty after proveOnly
  LinkMap map;
};

/// Links. Every finding goes to `diagnostics`, each with its rule of abi/kernel_abi.md; with an error among them there
/// is no output and the returned status counts them.
Result<LinkOutput> link(const LinkJob &job, Diagnostics &diagnostics);

} // namespace tenon::linker
