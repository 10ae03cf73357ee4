// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file is "BYTES OF THE LOG\n", the log, the cubin.
#include "linker/assembler/assembly_cache.h"

#include "support/number.h"
#include "support/sha256.h"

#include <sys/stat.h>

namespace tenon::linker {

/// Empty where it cannot be told: nothing is kept then.
static std::string identityOf(const std::string &ptxas) {
  struct stat file = {};
  if (::stat(ptxas.c_str(), &file) != 0)
    return {};
  return concat(ptxas, ' ', file.st_size, ' ', file.st_mtim.tv_sec, ' ', file.st_mtim.tv_nsec);
}

AssemblyCache::AssemblyCache(const std::string &folder, std::string ptxas)
    : ptxas_(std::move(ptxas)), identity_(identityOf(ptxas_)),
      files_(folder.empty() || identity_.empty() ? std::string() : folder + "/cubins", "tenon-cubin 1 ", kLimit) {}

static std::optional<Assembly> fromFile(std::string_view file) {
  const std::optional<size_t> logBytes = takeNumber<size_t>(file);
  if (!logBytes || file.empty() || *logBytes > file.size() - 1)
    return std::nullopt;
  Assembly assembly = parsePtxasLog(file.substr(1, *logBytes), 0);
  assembly.cubin = file.substr(1 + *logBytes);
  return assembly;
}

Result<Assembly> AssemblyCache::assemble(abi::TargetArch target, std::string_view text) const {
  if (!files_.isEnabled())
    return runPtxas(ptxas_, target, text);
  const std::string key = Sha256().addField(identity_).addField(target.toString()).addField(text).hex();
  if (const std::optional<std::string> file = files_.find(key))
    if (std::optional<Assembly> known = fromFile(*file))
      return std::move(*known);
  std::string log;
  TENON_ASSIGN_OR_RETURN(Assembly assembly, runPtxas(ptxas_, target, text, &log));
  if (assembly.outcome != Assembly::Outcome::Assembled)
    return assembly;
  // What cannot be kept harms nothing. A link has few objects and a program many links: one in 256 looks at the limit.
  (void)files_.storeOneOfMany(key, concat(log.size(), '\n', log, assembly.cubin)).ok();
  if (key.starts_with("00"))
    files_.trim();
  return assembly;
}

} // namespace tenon::linker
