// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is linked: declarations, objects and the options of one link.
#pragma once

#include "abi/layout.h"
#include "abi/target_arch.h"
#include "linker/job/image_policy.h"
#include "linker/job/object_input.h"
#include "support/files/folder_cache.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::linker {

/// How CUDA sources become PTX (compileSources).
struct SourceOptions {
  std::string compiler;           // nvcc or clang; empty: nvcc, searched for
  std::vector<std::string> flags; // passed on
  std::string cacheFolder;        // keeps what was compiled; empty: FolderCache::userFolder(); "none": nothing is kept
  std::vector<abi::TargetArch> targets; // of sources that are given without one
  std::string compiledRoot; // a folder that holds sources compiled before, as --reproduce leaves them; empty: none

  /// The folder that cacheFolder means; empty: nothing is kept.
  std::string cache() const {
    return cacheFolder.empty() ? FolderCache::userFolder() : cacheFolder == "none" ? std::string() : cacheFolder;
  }
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

} // namespace tenon::linker
