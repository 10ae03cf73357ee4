// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/job/link_flags.h"

#include "abi/arch_spelling.h"
#include "support/number.h"

namespace tenon::linker {

static constexpr uint32_t kMaxJobs = 1024;

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const abi::ArchInfo &info : abi::knownArchs())
    names.push_back(info.arch.toString());
  return names;
}

Result<std::vector<abi::TargetArch>> parseTargetList(const std::vector<std::string> &values) {
  std::vector<abi::TargetArch> targets;
  for (std::string_view rest : values)
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      const std::optional<abi::TargetArch> arch = abi::parseTargetArch(name);
      if (!arch || !abi::findArch(*arch))
        return makeError(StatusCode::InvalidArgument, "unknown target '", name, "'; ", abi::archAdvice(name));
      targets.push_back(*arch);
    }
  return targets;
}

void LinkFlags::declare(CommandLine &commandLine) {
  commandLine.list("object-search-path", "DIR", &searchPaths,
                   "look for objects in DIR, beside the folder of the file that names them; may be repeated");
  commandLine.alias("iree-hal-executable-object-search-path");
  commandLine.flag("strict", &strict, "refuse what cannot be proved about a kernel (K-13, K-15)");
  commandLine.text("images", "KINDS", &images,
                   "images of each variant: cubin+ptx (the default), ptx or cubin; cubins are made\n"
                   "with ptxas from the CUDA toolkit, and without one images stay PTX");
  commandLine.words({"cubin+ptx", "ptx", "cubin"});
  commandLine.text("ptxas", "PATH", &ptxas,
                   "the ptxas to use (default: searched for in $CUDA_HOME/bin, $CUDA_PATH/bin, PATH\n"
                   "and /usr/local/cuda/bin)");
  commandLine.text("nvcc", "PATH", &nvcc,
                   "the nvcc, or clang, that compiles objects that are CUDA sources (default: an nvcc,\n"
                   "searched for like ptxas)");
  commandLine.list("cu-flag", "FLAG", &sourceFlags,
                   "pass FLAG to that compiler, as in --cu-flag=-Iinclude; may be repeated");
  commandLine.text("cu-cache", "DIR", &sourceCache,
                   "keep what was compiled in DIR: CUDA sources, cubins, generated kernels (default:\n"
                   "$TENON_CACHE_DIR, else tenon in $XDG_CACHE_HOME or ~/.cache); none keeps nothing");
  commandLine.text("jobs", "N", &jobs, "run up to N compilers or assemblers at once (default: one per core)");
  commandLine.environment("CUDA_HOME", "the CUDA toolkit, searched first; then CUDA_PATH, PATH and /usr/local/cuda");
  commandLine.environment("TENON_CACHE_DIR", "as --cu-cache");
  commandLine.environment("NO_COLOR", "no colours, on a terminal either");
}

Status LinkFlags::applyTo(LinkJob &job) const {
  TENON_ASSIGN_OR_RETURN(job.imagePolicy, parseImagePolicy(images));
  job.strict = strict;
  job.ptxasPath = ptxas;
  job.sources.compiler = nvcc;
  job.sources.flags = sourceFlags;
  job.sources.cacheFolder = sourceCache;
  if (jobs.empty())
    return okStatus();
  job.jobs = parseNumber<uint32_t>(jobs).value_or(0);
  if (job.jobs == 0 || job.jobs > kMaxJobs)
    return makeError(StatusCode::InvalidArgument, "--jobs is a number from 1 to ", kMaxJobs, ", not '", jobs, "'");
  return okStatus();
}

} // namespace tenon::linker
