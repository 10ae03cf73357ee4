// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options that several tools have, in the same words.
#pragma once

#include "abi/format/libraries.h"
#include "runtime/device/trace.h"
#include "runtime/executable/executable_options.h"
#include "runtime/tools/driver_versions.h"
#include "support/process/command_line.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon::runtime {

/// --device, and what in the environment decides about devices; --version says which drivers there are.
inline void declareDevice(CommandLine &line, std::string *device) {
  line.text("device", "DEVICE", device,
            "cuda, cuda:1 or emulator; left out: the GPU where there is one, else the emulator");
  line.words({"cuda", "cuda:0", "cuda:1", "emulator"});
  line.environment("TENON_CUDA_DRIVER", "emulator, or a library's path: serves every device name; cuda: no emulator");
  line.environment("TENON_EMULATOR_LIBRARY", "the emulator to load, instead of the one beside the tool");
  line.environment("TENON_EMULATOR_SM", "the architecture that is emulated: 75 to 90 (90)");
  line.environment("TENON_EMULATOR_CHECK", "what the emulator looks for besides: races,uninitialised,barriers");
  line.environment("TENON_EMULATOR_TIMEOUT", "seconds that a launch on the emulator may take");
  line.environment("TENON_IMAGES", "which images may be taken: any, cubin or ptx");
  line.environment("NO_COLOR", "no colours, on a terminal either");
  line.versions([] { return abi::libraryVersions() + driverVersions(cuda::DriverSearch::fromEnvironment()); });
}
inline void declareVariant(CommandLine &line, std::string *variant) {
  line.text("variant", "NAME", variant,
            "take this variant only, in executables that have it; left out: the best one for the device");
}
/// Which images of a program's executables are taken.
struct ImageChoice {
  std::string variant;
  bool noJit = false, forcePtx = false;
};
inline void declareImages(CommandLine &line, ImageChoice *choice) {
  declareVariant(line, &choice->variant);
  line.flag("no-jit", &choice->noJit,
            "take finished code only, never PTX that the driver compiles (as TENON_IMAGES=cubin)");
  line.flag("force-ptx", &choice->forcePtx, "take PTX only, as a newer device would (as TENON_IMAGES=ptx)");
}
/// What is wrong with the options together; empty: nothing.
inline std::string_view conflictOf(const ImageChoice &choice) {
  return choice.noJit && choice.forcePtx ? "--no-jit and --force-ptx exclude each other" : "";
}
/// The environment's wishes, and the command line's over them. InvalidArgument: TENON_IMAGES is none of its words.
inline Result<ExecutableOptions> readImageOptions(const ImageChoice &choice) {
  TENON_ASSIGN_OR_RETURN(ExecutableOptions images, ExecutableOptions::fromEnvironment());
  images.variant = choice.variant;
  if (choice.noJit)
    images.images = ImagePolicy::Cubin;
  if (choice.forcePtx)
    images.images = ImagePolicy::Ptx;
  return images;
}

inline void declareTrace(CommandLine &line, std::string *file) {
  line.text("trace", "FILE", file,
            "write what ran when, on host and device, for Perfetto or chrome://tracing (no CUDA graph then)");
}
/// Null: no trace was asked for.
inline std::shared_ptr<Trace> startTrace(const std::string &file) {
  return file.empty() ? nullptr : std::make_shared<Trace>();
}
/// To be called after work that failed, too. An error: the file cannot be written.
inline Status writeTrace(const Trace *trace, const std::string &file) {
  return trace ? trace->write(file) : okStatus();
}

inline void declareInputs(CommandLine &line, std::vector<std::string> *inputs) {
  line.list("input", "VALUE", inputs,
            "8xf32=2, 2x2xi32=[[1 2][3 4]], 3.14, @f.npy, +f.npy, *f.npy, 4xf32=@f.bin; one per input");
}
inline void declareSynchronous(CommandLine &line, bool *synchronous) {
  line.flag("synchronous", synchronous, "wait after every command, so that a fault names it");
}

} // namespace tenon::runtime
