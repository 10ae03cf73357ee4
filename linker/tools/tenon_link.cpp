// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-link: a manifest and objects in, an executable out; no MLIR needed.
#include "abi/format/views/program_view.h"
#include "abi/parameter_layout.h"
#include "linker/declare/header_writer.h"
#include "linker/declare/import.h"
#include "linker/declare/kernel_record.h"
#include "linker/declare/manifest.h"
#include "linker/link.h"
#include "linker/link_map.h"
#include "linker/object/object_kind.h"
#include "linker/replace/replace.h"
#include "linker/source/compile_sources.h"
#include "linker/source/make_rule.h"
#include "linker/tools/coverage.h"
#include "linker/tools/explain.h"
#include "linker/tools/link_options.h"
#include "linker/tools/reproduce.h"
#include "support/files/file.h"
#include "support/memory.h"
#include "support/process/phases.h"
#include "support/process/terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

using namespace tenon;

namespace {

using linker::LinkOptions;

int fail(std::string_view message) {
  return reportFailure("tenon-link", message);
}

int fail(const Diagnostics &diagnostics) {
  printMessages(stderr, diagnostics.toString());
  return kExitFailure;
}

int write(const std::string &path, std::string_view bytes) {
  Status written = writeFile(path, bytes);
  return written.ok() ? 0 : fail(written.message());
}

int write(const std::string &path, const std::vector<uint8_t> &bytes) {
  return write(path, std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
}

/// What the tool does; a static, because runs end in many places.
Phases &phases() {
  static Phases phases("tenon-link");
  return phases;
}

/// A manifest is a text of its own; everything else that may stand first on the command line is an object.
bool isManifest(std::string_view argument, std::string_view bytes) {
  return !argument.starts_with("sm_") && linker::detectObjectKind(bytes) != linker::ObjectKind::Ptx &&
         !linker::isBinaryObject(bytes) && !linker::isCudaSource(argument, bytes);
}

int writeDepfile(const LinkOptions &options, const linker::LinkJob &job) {
  return options.depfile.empty() ? 0 : write(options.depfile, linker::writeMakeRule(options.output, job.inputFiles));
}

/// Everything that was read, whether it links or not: --reproduce is for links that fail, too.
int writeReproduction(const LinkOptions &options, const linker::LinkJob &job) {
  if (options.reproduce.empty())
    return 0;
  if (options.inputs.front() == "-")
    return fail("--reproduce needs the manifest as a file, not on standard input");
  linker::ReproduceRequest request{.inputs = options.inputs, .arguments = {}, .searchPaths = options.link.searchPaths};
  auto add = [&request](std::string_view flag, const std::string &value) {
    if (!value.empty())
      request.arguments.push_back(concat("--", flag, "=", value));
  };
  add("images", options.link.images);
  add("name", options.name);
  for (const std::string &target : options.targets)
    add("target", target);
  if (options.link.strict)
    request.arguments.emplace_back("--strict");
  Result<std::string> tar = linker::makeReproduction(job, request);
  return tar.ok() ? write(options.reproduce, *tar) : fail(tar.status().message());
}

/// Reads the manifest, where there is one, and every object, compiles sources, and declares what the objects' records
/// say where nothing else does. False: it was reported.
bool readInputs(const LinkOptions &options, linker::LinkJob &job, linker::ManifestExtras &extras,
                Diagnostics &diagnostics) {
  linker::ManifestOptions manifestOptions{.searchPaths = options.link.searchPaths, .root = options.root};
  phases().begin("read");
  job.name = "kernels";
  extras.exportsFromRecords = true;
  size_t firstObject = 0;
  if (const std::string &first = options.inputs.front(); !first.starts_with("sm_")) {
    Result<FileBytes> text = FileBytes::read(first == "-" ? first : options.root + first);
    if (!text.ok()) {
      fail(text.status().message());
      return false;
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
  if (Status status = options.applyTo(job); !status.ok()) {
    fail(status.message()); // check() looked at it before
    return false;
  }
  if (!diagnostics.hasErrors() && !job.sources.targets.empty())
    phases().begin("compile sources");
  if (!diagnostics.hasErrors())
    linker::compileSources(job, diagnostics);
  if (!diagnostics.hasErrors() && extras.exportsFromRecords)
    linker::addExportsFromRecords(job, extras, diagnostics);
  if (diagnostics.hasErrors())
    fail(diagnostics);
  return !diagnostics.hasErrors();
}

int runHeader(const LinkOptions &options) {
  Diagnostics diagnostics;
  linker::ManifestExtras extras;
  linker::LinkJob job;
  if (!readInputs(options, job, extras, diagnostics))
    return kExitFailure;
  for (const abi::Export &declared : job.exports)
    if (Result<abi::ParameterLayout> layout = abi::computeParameterLayout(declared.layout); !layout.ok())
      return fail(concat("layout of export '", declared.name, "': ", layout.status().message()));
  // Sources may include the header of before.
  if (Status status = checkOutputs({&options.header, 1}, options.inputs); !status.ok())
    return fail(status.message());
  std::string source = options.inputs.front();
  source.erase(0, source.find_last_of('/') + 1);
  return write(options.header, linker::writeHeader(job, extras.signatures, source));
}

int runImport(const LinkOptions &options) {
  Diagnostics diagnostics;
  linker::LinkJob job{.name = options.name.empty() ? "kernels" : options.name};
  for (const std::string &object : options.imports)
    linker::addObject(job, object, {.searchPaths = options.link.searchPaths, .root = options.root}, diagnostics);
  if (Status status = checkOutputs({&options.output, 1}, job.inputFiles); !status.ok())
    return fail(status.message());
  if (Status status = options.applyTo(job); !status.ok())
    return fail(status.message());
  if (!diagnostics.hasErrors())
    linker::compileSources(job, diagnostics);
  linker::ImportOptions importOptions{.kernels = options.kernels};
  if (size_t slash = options.output.find_last_of('/'); slash != std::string::npos)
    importOptions.folder = options.output.substr(0, slash + 1);
  std::string text = diagnostics.hasErrors() ? "" : linker::draftManifest(job, importOptions, diagnostics);
  printMessages(stderr, diagnostics.toString());
  return text.empty() ? kExitFailure : write(options.output.empty() ? "-" : options.output, text);
}

/// --explain and --require-coverage of one executable. With an output on standard output, the explanation steps aside.
void examine(const LinkOptions &options, const abi::ExecutableView &view, Diagnostics &diagnostics) {
  if (options.explained)
    std::fputs(linker::explainExecutable(view, *options.explained).c_str(), options.output == "-" ? stderr : stdout);
  linker::requireCoverage(view, options.required, diagnostics);
}

void examineProgram(const LinkOptions &options, const abi::ProgramView &program, Diagnostics &diagnostics) {
  if (options.explained) {
    const abi::ProgramView taken = linker::viewFor(program, *options.explained);
    if (program.editionCount() != 0)
      std::printf("edition for %s, one of %zu\n", taken.edition() ? taken.editionTargets().c_str() : "other devices",
                  program.editionCount() + 1);
    const std::set<uint32_t> others = taken.executablesOfOthers();
    for (uint32_t i = 0; i < program.executableCount(); ++i)
      if (!others.contains(i))
        std::fputs(linker::explainExecutable(program.executableAt(i), *options.explained).c_str(), stdout);
  }
  linker::requireCoverage(program, options.required, diagnostics);
}

/// Also --check, of which nothing comes out.
int runLink(const LinkOptions &options) {
  Diagnostics diagnostics;
  linker::ManifestExtras extras;
  static linker::LinkJob job; // see main
  const bool wasRead = readInputs(options, job, extras, diagnostics);
  const std::string outputs[] = {options.output, options.map, options.depfile, options.reproduce};
  if (Status status = checkOutputs(outputs, job.inputFiles); !status.ok())
    return fail(status.message());
  if (int status = writeReproduction(options, job))
    return status;
  if (!wasRead)
    return kExitFailure;

  phases().begin(options.proveOnly ? "prove" : "prove, assemble and write");
  static Result<linker::LinkOutput> output = linker::link(job, diagnostics);
  if (!output.ok()) {
    fail(diagnostics);
    return fail(output.status().message());
  }
  const size_t warnings =
      static_cast<size_t>(std::ranges::count(diagnostics.items(), Severity::Warning, &Diagnostic::severity));
  if (options.warningsAreErrors && warnings != 0) {
    fail(diagnostics);
    return fail(concat(warnings, warnings == 1 ? " warning" : " warnings", " with --werror: nothing is written"));
  }
  phases().begin("report");
  if (options.explained || !options.required.empty() || !options.map.empty()) { // else nobody looks into it
    Result<abi::ExecutableView> view = abi::ExecutableView::create(output->executable, job.name);
    if (!view.ok())
      return fail(view.status().message());
    examine(options, *view, diagnostics);
    if (!options.map.empty())
      if (int status = write(options.map, linker::printLinkMap(output->map, *view, output->executable.size()))) {
        printMessages(stderr, diagnostics.toString());
        return status;
      }
  }
  printMessages(stderr, diagnostics.toString());
  // What does not cover the devices that it must is not built.
  if (diagnostics.hasErrors())
    return kExitFailure;
  if (int status = writeDepfile(options, job))
    return status;
  return options.output.empty() ? 0 : write(options.output, output->executable);
}

/// --require-coverage and --explain of a file that is built.
int runExamination(const LinkOptions &options) {
  const std::string &path = options.inputs.front();
  Result<std::string> file = readFile(path);
  if (!file.ok())
    return fail(file.status().message());
  const std::vector<uint8_t> bytes(file->begin(), file->end()); // aligned for views
  Diagnostics diagnostics;
  if (linker::detectObjectKind(*file) == linker::ObjectKind::Executable) {
    Result<abi::ExecutableView> view = abi::ExecutableView::create(bytes, path);
    if (!view.ok())
      return fail(view.status().message());
    examine(options, *view, diagnostics);
  } else {
    Result<abi::ProgramView> program = abi::ProgramView::create(bytes, path);
    if (!program.ok())
      return fail(program.status().message());
    examineProgram(options, *program, diagnostics);
  }
  printMessages(stderr, diagnostics.toString());
  return diagnostics.hasErrors() ? kExitFailure : 0;
}

int runReplace(const LinkOptions &options) {
  Diagnostics diagnostics;
  linker::Replacement replacement{.exportName = {}, .variantName = options.variant, .job = {}};
  for (const std::string &argument : options.replacements) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (equals == std::string::npos || name.empty())
      return fail(concat("--replace is EXPORT=OBJECT, not '", argument, "'"));
    if (!replacement.exportName.empty() && replacement.exportName != name)
      return fail(
          concat("--replace names '", replacement.exportName, "' and '", name, "': replace one after the other"));
    replacement.exportName = name;
    linker::addObject(replacement.job, argument.substr(equals + 1),
                      {.searchPaths = options.link.searchPaths, .root = options.root}, diagnostics);
  }
  if (Status status = options.applyTo(replacement.job); !status.ok())
    return fail(status.message());
  if (!diagnostics.hasErrors())
    linker::compileSources(replacement.job, diagnostics);
  if (diagnostics.hasErrors())
    return fail(diagnostics);
  const std::string outputs[] = {options.output, options.depfile};
  if (Status status = checkOutputs(outputs, replacement.job.inputFiles); !status.ok())
    return fail(status.message());
  const std::string &path = options.inputs.front(); // which may be written in its place
  Result<std::string> file = readFile(path);
  if (!file.ok())
    return fail(file.status().message());
  const std::vector<uint8_t> bytes(file->begin(), file->end());
  Result<std::vector<uint8_t>> replaced = linker::replaceKernel(bytes, path, replacement, diagnostics);
  printMessages(stderr, diagnostics.toString());
  if (!replaced.ok())
    return fail(replaced.status().message());
  replacement.job.inputFiles.push_back(path);
  if (int status = writeDepfile(options, replacement.job))
    return status;
  return write(options.output, *replaced);
}

} // namespace

static int run(const LinkOptions &options) {
  switch (options.work) {
  case LinkOptions::Work::Link:
    return runLink(options);
  case LinkOptions::Work::Examine:
    return runExamination(options);
  case LinkOptions::Work::Header:
    return runHeader(options);
  case LinkOptions::Work::Import:
    return runImport(options);
  case LinkOptions::Work::Replace:
    return runReplace(options);
  }
}

/// Memory that one object needed is needed by the next. glibc gives it back to the system in between, and every page
/// of it costs a fault again: more than a tenth of the time of a large link.
static void keepMemory() {
#if defined(__GLIBC__)
  constexpr int kNever = 1 << 30; // bytes
  ::mallopt(M_TRIM_THRESHOLD, kNever);
  ::mallopt(M_MMAP_THRESHOLD, kNever);
  ::mallopt(M_TOP_PAD, 1 << 20);
#endif
}

/// The address sanitizer looks for leaks at a usual end.
#if defined(__SANITIZE_ADDRESS__)
static constexpr bool kLooksForLeaks = true;
#elif defined(__has_feature)
static constexpr bool kLooksForLeaks = __has_feature(address_sanitizer);
#else
static constexpr bool kLooksForLeaks = false;
#endif

int main(int argc, char **argv) {
  keepMemory();
  reportLostBytes("tenon-link");
  reportMissingMemory("tenon-link");
  LinkOptions options;
  CommandLine commandLine = options.commandLine();
  commandLine.phases(phases());
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;
  if (Status status = options.check(); !status.ok())
    return commandLine.usageError(status.message());
  const int status = finishOutput("tenon-link", run(options));
  phases().finish();
  // The process gives back what it holds at once; piece by piece, a large job takes longer than it took to check it.
  std::fflush(nullptr);
  if (!kLooksForLeaks)
    std::_Exit(status);
  return status;
}
