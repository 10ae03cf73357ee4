// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command names files by their absolute paths and says --chroot=files, so that a manifest's own absolute paths are
// found as well. A source is linked from the PTX beside it: elsewhere there may be no compiler, or another one.
#include "linker/tools/reproduce.h"

#include "linker/assembler/ptxas.h"
#include "linker/source/cuda_compiler.h"
#include "linker/tools/tar_writer.h"
#include "support/files/file.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace tenon::linker {
namespace {

constexpr std::string_view kFolder = "reproduce/";

std::string absolutePath(const std::string &path) {
  std::error_code failed;
  return std::filesystem::absolute(path, failed).lexically_normal().string();
}

/// "sm_80=/a/b/k.ptx" of "sm_80=k.ptx".
std::string absoluteInput(const std::string &input) {
  const size_t equals = input.starts_with("sm_") ? input.find('=') : std::string::npos;
  const size_t path = equals == std::string::npos ? 0 : equals + 1;
  return input.substr(0, path) + absolutePath(input.substr(path));
}

std::string shellWord(std::string_view word) {
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Headers of the compilers and of the system: everyone has their own.
bool isSystemFile(const std::string &path, const std::string &toolkit) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         (!toolkit.empty() && path.starts_with(toolkit + "/"));
}

std::string versions(const LinkJob &job, std::string &toolkit) {
  std::string text = "tenon " TENON_VERSION "\n";
  const bool hasSources =
      std::ranges::any_of(job.objects, [](const ObjectInput &object) { return !object.sourcePath.empty(); });
  if (hasSources)
    if (Result<CudaCompiler> compiler = findCudaCompiler(job.sources.compiler); compiler.ok()) {
      toolkit = std::filesystem::path(absolutePath(compiler->path)).parent_path().parent_path().string();
      text += "\nsources were compiled with\n" + compiler->version;
    }
  if (job.imagePolicy != ImagePolicy::Ptx)
    if (Result<std::string> ptxas = findPtxas(job.ptxasPath); ptxas.ok())
      if (Result<ProcessResult> process = runProcess(std::vector<std::string>{*ptxas, "--version"}, {}); process.ok())
        text += "\ncubins were assembled with, and have the same bytes only with\n" + process->output;
  return text;
}

} // namespace

Result<std::string> makeReproduction(const LinkJob &job, const ReproduceRequest &request) {
  TarWriter tar;
  std::string toolkit;
  std::string script =
      "#!/bin/sh\n# Repeats the link that this folder was made from.\ncd \"$(dirname \"$0\")\" || exit 1\n"
      "exec \"${TENON_LINK:-tenon-link}\" --chroot=files";
  for (const std::string &argument : request.arguments)
    script += " " + shellWord(argument);
  for (const std::string &folder : request.searchPaths)
    script += " " + shellWord("--object-search-path=" + absolutePath(folder));
  for (const std::string &input : request.inputs)
    script += " " + shellWord(absoluteInput(input));
  tar.add(concat(kFolder, "link.sh"), script + " -o out.tnx \"$@\"\n", true);
  tar.add(concat(kFolder, "versions.txt"), versions(job, toolkit));

  std::set<std::string> added;
  auto add = [&](const std::string &path, std::string_view contents) {
    if (added.insert(path).second)
      tar.add(concat(kFolder, "files", path), contents);
  };
  for (const std::string &file : job.inputFiles) {
    const std::string path = absolutePath(file);
    if (isSystemFile(path, toolkit))
      continue;
    TENON_ASSIGN_OR_RETURN(std::string contents, readFile(job.sources.compiledRoot + path));
    add(path, contents);
  }
  for (const ObjectInput &object : job.objects)
    if (!object.sourcePath.empty())
      add(absolutePath(object.path), object.bytes);
  return tar.take();
}

} // namespace tenon::linker
