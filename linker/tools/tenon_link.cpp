// tenon-link: a manifest and objects in, an executable out; no MLIR needed.
#include "abi/command_line.h"
#include "abi/executable_view.h"
#include "abi/file.h"
#include "abi/parameter_layout.h"
#include "linker/declare/header_writer.h"
#include "linker/declare/import.h"
#include "linker/declare/kernel_record.h"
#include "linker/declare/manifest.h"
#include "linker/object/object_kind.h"
#include "linker/tools/explain.h"

#include <charconv>
#include <cstdio>

using namespace tenon;

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::string> searchPaths;
  std::string output;
  bool strict = false;
  std::string images, ptxas, jobs;
  bool explain = false;
  std::string device;
  std::string driver;
  std::string name;
  std::string header;
  std::vector<std::string> imports;
  std::vector<std::string> kernels;
};

constexpr uint32_t kMaxJobs = 1024;

int fail(std::string_view message) {
  std::fprintf(stderr, "tenon-link: error: %.*s\n", int(message.size()), message.data());
  return kExitFailure;
}

/// A manifest is a text of its own; everything else that may stand first on the command line is an object.
bool isManifest(std::string_view argument, std::string_view bytes) {
  return !argument.starts_with("sm_") && linker::detectObjectKind(bytes) != linker::ObjectKind::Ptx &&
         !linker::isBinaryObject(bytes);
}

/// What --images, --ptxas and --jobs ask for.
Status applyImageFlags(const Options &options, linker::LinkJob &job) {
  TENON_ASSIGN_OR_RETURN(job.imagePolicy, linker::parseImagePolicy(options.images));
  job.ptxasPath = options.ptxas;
  if (options.jobs.empty())
    return okStatus();
  const char *end = options.jobs.data() + options.jobs.size();
  auto [stop, failed] = std::from_chars(options.jobs.data(), end, job.jobs);
  if (failed != std::errc() || stop != end || job.jobs == 0 || job.jobs > kMaxJobs)
    return makeError(StatusCode::InvalidArgument, "--jobs is a number from 1 to ", kMaxJobs, ", not '", options.jobs,
                     "'");
  return okStatus();
}

int fail(const Diagnostics &diagnostics) {
  std::fputs(diagnostics.toString().c_str(), stderr);
  return kExitFailure;
}

int write(const std::string &path, std::string_view bytes) {
  Status written = writeFile(path, bytes);
  return written.ok() ? 0 : fail(written.message());
}

/// Reads the manifest, where there is one, and every object; declares what their records say where nothing else does.
/// Nothing: it was reported.
std::optional<linker::LinkJob> readInputs(const Options &options, linker::ManifestExtras &extras,
                                          Diagnostics &diagnostics) {
  linker::ManifestOptions manifestOptions{.searchPaths = options.searchPaths};
  linker::LinkJob job{.name = "kernels"};
  extras.exportsFromRecords = true;
  size_t firstObject = 0;
  if (const std::string &first = options.inputs.front(); !first.starts_with("sm_")) {
    Result<std::string> text = readFile(first);
    if (!text.ok()) {
      fail(text.status().message());
      return std::nullopt;
    }
    if (isManifest(first, *text)) {
      job = linker::readManifest(first, text.take(), manifestOptions, diagnostics, &extras);
      firstObject = 1;
    }
  }
  for (size_t i = firstObject; i < options.inputs.size(); ++i)
    linker::addObject(job, options.inputs[i], manifestOptions, diagnostics);
  if (!options.name.empty())
    job.name = options.name;
  job.strict = options.strict;
  if (!diagnostics.hasErrors() && extras.exportsFromRecords)
    linker::addExportsFromRecords(job, extras, diagnostics);
  if (diagnostics.hasErrors()) {
    fail(diagnostics);
    return std::nullopt;
  }
  return job;
}

int runHeader(const Options &options) {
  Diagnostics diagnostics;
  linker::ManifestExtras extras;
  std::optional<linker::LinkJob> job = readInputs(options, extras, diagnostics);
  if (!job)
    return kExitFailure;
  for (const abi::Export &declared : job->exports)
    if (Result<abi::ParameterLayout> layout = abi::computeParameterLayout(declared.layout); !layout.ok())
      return fail(concat("layout of export '", declared.name, "': ", layout.status().message()));
  std::string source = options.inputs.front();
  source.erase(0, source.find_last_of('/') + 1);
  return write(options.header, linker::writeHeader(*job, extras.signatures, source));
}

int runImport(const Options &options) {
  Diagnostics diagnostics;
  linker::LinkJob job{.name = options.name.empty() ? "kernels" : options.name};
  for (const std::string &object : options.imports)
    linker::addObject(job, object, {.searchPaths = options.searchPaths}, diagnostics);
  linker::ImportOptions importOptions{.kernels = options.kernels};
  if (size_t slash = options.output.find_last_of('/'); slash != std::string::npos)
    importOptions.folder = options.output.substr(0, slash + 1);
  std::string text = diagnostics.hasErrors() ? "" : linker::draftManifest(job, importOptions, diagnostics);
  std::fputs(diagnostics.toString().c_str(), stderr);
  return text.empty() ? kExitFailure : write(options.output.empty() ? "-" : options.output, text);
}

int runLink(const Options &options, const abi::DeviceTraits *device) {
  Diagnostics diagnostics;
  linker::ManifestExtras extras;
  std::optional<linker::LinkJob> read = readInputs(options, extras, diagnostics);
  if (!read)
    return kExitFailure;
  linker::LinkJob &job = *read;

  if (Status status = applyImageFlags(options, job); !status.ok())
    return fail(status.message()); // main() looked at the flags before

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
  return write(options.output, {reinterpret_cast<const char *>(output->executable.data()), output->executable.size()});
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CommandLine commandLine(
      "tenon-link", "[MANIFEST.json] [OBJECT...] -o FILE",
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
      "Without a manifest, the kernels are those that TENON_KERNEL of tenon/kernel.cuh declares in the objects.\n"
      "OBJECT is PATH or TARGET=PATH; without a target, the .target of the PTX is taken. linker/README.md has more.");
  commandLine.text("o", "FILE", &options.output, "write the executable here (- is standard output)");
  commandLine.list("object-search-path", "DIR", &options.searchPaths,
                   "look for objects in DIR, after the manifest's folder; may be repeated");
  commandLine.alias("iree-hal-executable-object-search-path");
  commandLine.flag("strict", &options.strict, "refuse what cannot be proved about a kernel (K-13, K-15)");
  commandLine.text("images", "KINDS", &options.images,
                   "images of each variant: cubin+ptx (the default), ptx or cubin; cubins are made\n"
                   "with ptxas from the CUDA toolkit, and without one images stay PTX");
  commandLine.text("ptxas", "PATH", &options.ptxas,
                   "the ptxas to use (default: searched for in $CUDA_HOME/bin, $CUDA_PATH/bin, PATH\n"
                   "and /usr/local/cuda/bin)");
  commandLine.text("jobs", "N", &options.jobs, "run up to N assemblers at once (default: one per core)");
  commandLine.flag("explain", &options.explain, "print which variant a device takes, and why not the others");
  commandLine.text("device", "ARCH", &options.device, "with --explain: the device, as sm_86 or 8.6");
  commandLine.text("driver", "VERSION", &options.driver, "with --explain: the CUDA version of its driver (13.0)");
  commandLine.text("name", "NAME", &options.name, "the executable's name, without a manifest (kernels)");
  commandLine.text("header", "FILE", &options.header,
                   "write a CUDA header with prototypes and checks of the declared kernels here; nothing is linked");
  commandLine.list("import", "OBJECT", &options.imports,
                   "draft a manifest for the kernels of OBJECT, to -o FILE or standard output; may be repeated");
  commandLine.list("kernel", "NAME", &options.kernels, "with --import: draft this kernel only; may be repeated");
  commandLine.positional(&options.inputs);
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;

  if (!options.imports.empty())
    return options.inputs.empty() && !options.explain && options.header.empty()
               ? runImport(options)
               : commandLine.usageError("--import takes no manifest, and neither --header nor --explain");
  if (!options.kernels.empty())
    return commandLine.usageError("--kernel needs --import");
  if (options.inputs.empty())
    return commandLine.usageError("no manifest or object given");
  if (!options.header.empty())
    return options.output.empty() && !options.explain
               ? runHeader(options)
               : commandLine.usageError("--header links nothing: give neither -o nor --explain");
  if (options.output.empty() && !options.explain)
    return commandLine.usageError("no output given: -o FILE (or --explain)");
  linker::LinkJob probe;
  if (Status status = applyImageFlags(options, probe); !status.ok())
    return commandLine.usageError(status.message());
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
