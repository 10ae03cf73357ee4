// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA compiler, nvcc or clang, as a subprocess: source in, PTX for one target out. It is the user's own.
#pragma once

#include "abi/target_arch.h"
#include "support/result.h"

#include <string>
#include <vector>

namespace tenon::linker {

struct CudaCompiler {
  std::string path;
  std::string version; // what --version prints
  bool isClang = false;
};

/// `given` where that is not empty, else the nvcc of $CUDA_HOME/bin, $CUDA_PATH/bin, PATH or /usr/local/cuda/bin; asked
/// for its version. NotFound lists the places tried. Unavailable: it does not run.
Result<CudaCompiler> findCudaCompiler(const std::string &given);

struct Compilation {
  int exitStatus = 0; // 0: there is PTX
  std::string ptx;
  std::string log;                // standard output and standard error
  std::vector<std::string> files; // read, the source first; empty unless it succeeded
};

/// Compiles `source` (a path) with `flags` behind our own and `include` as its last folder of headers. What depends on
/// the folder of the source is taken out (stable_ptx.h); `id` as there. A status only where it could not be run.
Result<Compilation> compileCuda(const CudaCompiler &compiler, const std::string &source, abi::TargetArch target,
                                const std::vector<std::string> &flags, const std::string &include,
                                const std::string &id);

/// Says why a path cannot be given to the compiler. Empty: it can.
std::string refusalOfPath(const CudaCompiler &compiler, std::string_view path);

/// Says why a flag of the user's cannot be passed on: the linker itself decides about outputs and targets. Empty: it
/// can.
std::string refusalOfFlag(const std::string &flag);

} // namespace tenon::linker
