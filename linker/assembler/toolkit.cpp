// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/assembler/toolkit.h"

#include "linker/assembler/find_program.h"
#include "linker/assembler/subprocess.h"

namespace tenon::linker {

/// "13.0" of "Cuda compilation tools, release 13.0, V13.0.88".
static std::string releaseIn(std::string_view text) {
  constexpr std::string_view kMark = "release ";
  const size_t at = text.find(kMark);
  if (at == std::string_view::npos)
    return "of an unknown release";
  text.remove_prefix(at + kMark.size());
  return std::string(text.substr(0, text.find_first_of(",\n ")));
}

std::string toolkitVersions() {
  std::string lines;
  for (const char *name : {"nvcc", "ptxas", "nvdisasm"}) {
    const Result<std::string> path = findCudaProgram(name, "");
    const Result<ProcessResult> answer =
        path.ok() ? runProcess({*path, "--version"}, {}) : Result<ProcessResult>(makeError(StatusCode::NotFound, name));
    lines +=
        answer.ok() ? concat(name, " ", releaseIn(answer->output), ", ", *path, "\n") : concat(name, ": none found\n");
  }
  return lines;
}

} // namespace tenon::linker
