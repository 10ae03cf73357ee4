// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc runs the host's preprocessor, then its own front end; both see the memory files by the numbers that nvcc has.
// `-fmacro-prefix-map` keeps the folder out of __FILE__, and with it out of assertions and records (TENON_KERNEL).
#include "linker/source/cuda_compiler.h"

#include "linker/assembler/find_program.h"
#include "linker/assembler/subprocess.h"
#include "linker/source/make_rule.h"
#include "linker/source/stable_ptx.h"

#include <filesystem>

namespace tenon::linker {
namespace {

constexpr size_t kPtxFile = 0, kDependencyFile = 1;

std::vector<std::string> commandLine(const CudaCompiler &compiler, const std::string &source, abi::TargetArch target,
                                     const std::vector<std::string> &flags, const std::string &include) {
  const std::string arch = target.toString().substr(3); // behind "sm_"
  const std::string folder = source.substr(0, source.find_last_of('/') + 1);
  std::vector<std::string> arguments = {compiler.path};
  if (compiler.isClang) {
    for (const char *argument : {"-x", "cuda", "--cuda-device-only", "-S", "-O3", "-std=c++17"})
      arguments.emplace_back(argument);
    arguments.push_back("--cuda-gpu-arch=sm_" + arch);
  } else {
    arguments.insert(arguments.end(), {"-ptx", "-arch=compute_" + arch});
  }
  if (!folder.empty()) {
    const std::string map = concat("-fmacro-prefix-map=", folder, "=");
    // nvcc quotes paths of its own for the shell that runs the host's compiler, but takes apart what is for that
    // compiler.
    if (!compiler.isClang)
      arguments.insert(arguments.end(), {"-Xcompiler", concat("\"", map, "\"")});
    else
      arguments.push_back(map);
  }
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(),
                   {"-I" + include, "-MD", "-MF", childPath(kDependencyFile), source, "-o", childPath(kPtxFile)});
  return arguments;
}

} // namespace

Result<CudaCompiler> findCudaCompiler(const std::string &given) {
  CudaCompiler compiler;
  TENON_ASSIGN_OR_RETURN(compiler.path, findCudaProgram("nvcc", given));
  const std::vector<std::string> arguments = {compiler.path, "--version"};
  TENON_ASSIGN_OR_RETURN(ProcessResult process, runProcess(arguments, {}));
  if (process.exitStatus != 0)
    return makeError(StatusCode::Unavailable, "'", compiler.path, " --version' ended with status ", process.exitStatus);
  compiler.version = std::move(process.output);
  compiler.isClang = compiler.version.find("clang version") != std::string::npos;
  return compiler;
}

Result<Compilation> compileCuda(const CudaCompiler &compiler, const std::string &source, abi::TargetArch target,
                                const std::vector<std::string> &flags, const std::string &include,
                                const std::string &id) {
  TENON_ASSIGN_OR_RETURN(MemoryFile ptx, MemoryFile::create("out.ptx"));
  TENON_ASSIGN_OR_RETURN(MemoryFile dependencies, MemoryFile::create("out.d"));
  const MemoryFile *const files[] = {&ptx, &dependencies};
  TENON_ASSIGN_OR_RETURN(ProcessResult process,
                         runProcess(commandLine(compiler, source, target, flags, include), files));
  Compilation result{.exitStatus = process.exitStatus, .ptx = {}, .log = std::move(process.output), .files = {}};
  if (result.exitStatus != 0)
    return result;
  TENON_ASSIGN_OR_RETURN(std::string text, ptx.contents());
  TENON_ASSIGN_OR_RETURN(std::string rule, dependencies.contents());
  std::error_code failed;
  const std::string folder = std::filesystem::absolute(source, failed).lexically_normal().parent_path().string();
  result.ptx = stablePtx(text, folder + "/", id);
  result.files = readMakeRule(rule);
  return result;
}

std::string refusalOfPath(const CudaCompiler &compiler, std::string_view path) {
  const size_t at = path.find_first_of("\"`$");
  if (compiler.isClang || at == std::string_view::npos)
    return "";
  return concat("nvcc hands paths to a shell, which reads the '", path.substr(at, 1), "' in it as its own");
}

std::string refusalOfFlag(const std::string &flag) {
  static constexpr std::string_view kTargets[] = {"-arch",           "--gpu-architecture", "-code",
                                                  "--gpu-code",      "-gencode",           "--generate-code",
                                                  "--cuda-gpu-arch", "--offload-arch"};
  static constexpr std::string_view kOutputs[] = {
      "-o",       "--output-file", "-c",       "-E",   "-S",    "-ptx", "--ptx", "-cubin",  "--cubin", "-fatbin",
      "--fatbin", "-dc",           "-dlink",   "-M",   "-MM",   "-MD",  "-MMD",  "-MF",     "-MT",     "-keep",
      "--keep",   "-dryrun",       "--dryrun", "-run", "--run", "-lib", "--lib", "-shared", "--shared"};
  const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
  for (std::string_view target : kTargets)
    if (name == target)
      return "the targets are those that the objects are declared for";
  for (std::string_view output : kOutputs)
    if (name == output)
      return "the linker decides what is compiled to what";
  return flag.empty() ? "it is empty" : "";
}

} // namespace tenon::linker
