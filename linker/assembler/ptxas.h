// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas, NVIDIA's assembler: PTX in, a cubin for one architecture out. It is the user's own, found when a link needs
// it; which targets and PTX versions it knows is its toolkit's matter, so that is asked by trying.
#pragma once

#include "abi/target_arch.h"
#include "linker/assembler/subprocess.h"
#include "support/diagnostics.h"
#include "support/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

/// What ptxas -v says of one entry point.
struct KernelResources {
  std::string name;
  uint32_t registers = 0;       // per thread
  uint32_t stackBytes = 0;      // of its frame, per thread
  uint32_t spillStoreBytes = 0; // per thread
  uint32_t spillLoadBytes = 0;
  uint32_t sharedBytes = 0; // static
};

struct AssemblerMessage {
  Severity severity = Severity::Error;
  uint32_t line = 0; // of the text given; 0: of the whole
  std::string text;  // as ptxas wrote it
};

struct Assembly {
  enum class Outcome : uint8_t {
    Assembled,
    UnknownTarget, // this ptxas has no such architecture
    NewerIsa,      // the text's .version is newer than this ptxas
    Refused,       // the text is wrong
  };
  Outcome outcome = Outcome::Refused;
  std::string cubin;
  std::vector<KernelResources> kernels; // in ptxas' order
  std::vector<AssemblerMessage> messages;
};

/// Path of the ptxas to use, as findCudaProgram finds it.
Result<std::string> findPtxas(const std::string &given);

/// Assembles `text` for `target`. Same ptxas, text and target: same bytes, wherever and whenever it runs, provided that
/// `.file` directives carry a time and a size (ptxas reads those of the source file where they do not).
/// A status only where ptxas itself could not be run; what it says about the text is in the Assembly.
/// @param log given: what it printed
Result<Assembly> runPtxas(const std::string &ptxas, abi::TargetArch target, std::string_view text,
                          std::string *log = nullptr);

/// What the output of ptxas -v says. `exitStatus` decides between Assembled and the rest.
Assembly parsePtxasLog(std::string_view log, int exitStatus);

} // namespace tenon::linker
