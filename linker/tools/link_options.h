// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tenon-link's command line says, and which of its works it asks for.
#pragma once

#include "abi/target_arch.h"
#include "linker/job/link_flags.h"
#include "support/process/command_line.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::linker {

struct LinkOptions {
  enum class Work {
    Link, // objects in, executable out; --explain, --map, --require-coverage and so on go along; --check stops before
    Examine, // --require-coverage or --explain of a file that is built already
    Header,  // --header
    Import,  // --import
    Replace, // --replace
  };

  std::vector<std::string> inputs;
  LinkFlags link;
  std::vector<std::string> targets, coverage, imports, kernels, replacements;
  std::string output, device, driver, name, header, depfile, map, reproduce, root, variant;
  bool explain = false, noJit = false, proveOnly = false, warningsAreErrors = false;

  // Filled by check().
  Work work = Work::Link;
  std::optional<abi::DeviceTraits> explained;
  std::vector<abi::DeviceTraits> required;

  CommandLine commandLine();
  /// Decides about `work` and looks at every value. A status that is not ok is a mistake on the command line.
  Status check();
  /// Fills the job's options; check() was called.
  Status applyTo(LinkJob &job) const;
};

/// Whether a file given first is built already: an executable or a program.
bool isBuilt(const std::string &path);

} // namespace tenon::linker
