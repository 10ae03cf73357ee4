// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --reproduce: everything that a link read, and the command that repeats it, in one tar file: for a bug report, or for
// a look from elsewhere.
//
//   reproduce/link.sh       runs tenon-link ($TENON_LINK) on the files beside it; more arguments are passed on
//   reproduce/versions.txt  the linker and the compilers that were used
//   reproduce/files/...     every file under its absolute path; sources with the PTX that they were compiled to
#pragma once

#include "linker/job/link_job.h"

#include <string>
#include <vector>

namespace tenon::linker {

struct ReproduceRequest {
  std::vector<std::string> inputs;    // as on the command line
  std::vector<std::string> arguments; // flags that do not name files
  std::vector<std::string> searchPaths;
};

/// The tar file's bytes. `job` is what was read: its sources are compiled already. Files below the system's own folders
/// for headers are left out. Errors: a file that cannot be read any more.
Result<std::string> makeReproduction(const LinkJob &job, const ReproduceRequest &request);

} // namespace tenon::linker
