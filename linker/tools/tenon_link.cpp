// tenon-link: a manifest and objects in, an executable out; no MLIR needed.
#include "abi/command_line.h"
#include "abi/executable_view.h"
#include "abi/file.h"
#include "linker/declare/manifest.h"
#include "linker/tools/explain.h"

#include <cstdio>

using namespace tenon;

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::string> searchPaths;
  std::string output;
  bool strict = false;
  bool explain = false;
  std::string device;
  std::string driver;
};

int fail(std::string_view message) {
  std::fprintf(stderr, "tenon-link: error: %.*s\n", int(message.size()), message.data());
  return kExitFailure;
}

int runLink(const Options &options, const abi::DeviceTraits *device) {
  Result<std::string> text = readFile(options.inputs.front());
  if (!text.ok())
    return fail(text.status().message());

  Diagnostics diagnostics;
  linker::ManifestOptions manifestOptions{.searchPaths = options.searchPaths};
  linker::LinkJob job = linker::readManifest(options.inputs.front(), text.take(), manifestOptions, diagnostics);
  for (size_t i = 1; i < options.inputs.size(); ++i)
    linker::addObject(job, options.inputs[i], manifestOptions, diagnostics);
  job.strict = options.strict;
  if (diagnostics.hasErrors()) {
    std::fputs(diagnostics.toString().c_str(), stderr);
    return kExitFailure;
  }

  Result<linker::LinkOutput> output = linker::link(job, diagnostics);
  std::fputs(diagnostics.toString().c_str(), stderr);
  if (!output.ok())
    return fail(output.status().message());
  if (device) {
    Result<abi::ExecutableView> view = abi::ExecutableView::create(output->executable, job.name);
    if (!view.ok())
      return fail(view.status().message());
    // With the executable on standard output, the explanation steps aside.
    std::fputs(linker::explainExecutable(*view, *device).c_str(), options.output == "-" ? stderr : stdout);
  }
  if (options.output.empty())
    return 0;
  Status written =
      writeFile(options.output, {reinterpret_cast<const char *>(output->executable.data()), output->executable.size()});
  return written.ok() ? 0 : fail(written.message());
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CommandLine commandLine(
      "tenon-link", "MANIFEST.json [OBJECT...] -o FILE",
      "Proves kernels against the ABI that a manifest declares and writes one executable with every variant.\n\n"
      "MANIFEST.json (- is standard input) is JSON of the schema abi/schemas/manifest.fbs; comments are allowed:\n"
      "  {\n"
      "    \"name\": \"kernels\",\n"
      "    \"exports\": [\n"
      "      {\"name\": \"saxpy\", \"launch\": {\"workgroup_size\": [128]},\n"
      "       \"layout\": {\"bindings\": [{\"read_only\": true, \"name\": \"x\"}, {\"name\": \"y\"}],\n"
      "                  \"constants\": [{\"element\": \"F32\", \"name\": \"a\"}, {\"element\": \"I32\"}]}}\n"
      "    ],\n"
      "    \"objects\": [{\"path\": \"kernels_sm_80.ptx\", \"target\": \"sm_80\"}]\n"
      "  }\n"
      "OBJECT is PATH or TARGET=PATH; without a target, the .target of the PTX is taken. linker/README.md has more.");
  commandLine.text("o", "FILE", &options.output, "write the executable here (- is standard output)");
  commandLine.list("object-search-path", "DIR", &options.searchPaths,
                   "look for objects in DIR, after the manifest's folder; may be repeated");
  commandLine.alias("iree-hal-executable-object-search-path");
  commandLine.flag("strict", &options.strict, "refuse what cannot be proved about a kernel (K-13, K-15)");
  commandLine.flag("explain", &options.explain, "print which variant a device takes, and why not the others");
  commandLine.text("device", "ARCH", &options.device, "with --explain: the device, as sm_86 or 8.6");
  commandLine.text("driver", "VERSION", &options.driver, "with --explain: the CUDA version of its driver (13.0)");
  commandLine.positional(&options.inputs);
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;

  if (options.inputs.empty())
    return commandLine.usageError("no manifest given");
  if (options.output.empty() && !options.explain)
    return commandLine.usageError("no output given: -o FILE (or --explain)");
  if (!options.explain)
    return options.device.empty() && options.driver.empty()
               ? runLink(options, nullptr)
               : commandLine.usageError("--device and --driver need --explain");
  if (options.device.empty())
    return commandLine.usageError("--explain needs --device, as in --device=sm_86");
  Result<abi::DeviceTraits> device =
      linker::describeDevice(options.device, options.driver.empty() ? "13.0" : options.driver);
  if (!device.ok())
    return commandLine.usageError(device.status().message());
  return runLink(options, &*device);
}
