// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-dump: what is in an executable (.tnx) or a program (.tenon).
#include "abi/format/file_kind.h"
#include "abi/format/libraries.h"
#include "linker/assembler/toolkit.h"
#include "linker/tools/diff.h"
#include "linker/tools/dump/dump.h"
#include "linker/tools/dump/dump_images.h"
#include "support/files/file.h"
#include "support/memory.h"
#include "support/process/command_line.h"

#include <cstdio>

using namespace tenon;

namespace {

int fail(std::string_view message) {
  return reportFailure("tenon-dump", message);
}

/// The bytes in memory that is aligned for views: a vector's, where a string may keep short contents inside itself.
std::vector<uint8_t> alignedCopy(const std::string &bytes) {
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

struct Options {
  std::vector<std::string> files;
  bool json = false, diff = false, list = false, symbols = false;
  std::optional<std::string> ptx, sass;
  std::string cubin, exportName;

  /// What is printed instead of the whole, in words; at most one may be asked for.
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> out;
    for (auto [given, name] :
         {std::pair(json, "--json"), std::pair(ptx.has_value(), "--ptx"), std::pair(sass.has_value(), "--sass"),
          std::pair(!cubin.empty(), "--cubin"), std::pair(list, "--list"), std::pair(symbols, "--symbols")})
      if (given)
        out.emplace_back(name);
    return out;
  }
};

int printText(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail("cannot write to standard output");
  return 0;
}

/// As diff does: 0 the same, 1 different, 2 trouble.
int diffFiles(const Options &options) {
  constexpr int kTrouble = 2;
  std::vector<std::vector<uint8_t>> bytes;
  for (const std::string &path : options.files) {
    Result<std::string> file = readFile(path);
    if (!file.ok())
      return fail(file.status().message()), kTrouble;
    bytes.push_back(alignedCopy(*file));
  }
  auto identifier = [&bytes](size_t i) {
    return bytes[i].size() < 8 ? std::string_view()
                               : std::string_view(reinterpret_cast<const char *>(bytes[i].data()) + 4, 4);
  };
  if (identifier(0) != identifier(1))
    return fail("--diff compares two executables, or two programs"), kTrouble;
  std::string text;
  if (identifier(0) == abi::fb::ProgramIdentifier()) {
    Result<abi::ProgramView> before = abi::ProgramView::create(bytes[0], options.files[0]);
    Result<abi::ProgramView> after = abi::ProgramView::create(bytes[1], options.files[1]);
    for (const auto *view : {&before, &after})
      if (!view->ok())
        return fail(view->status().message()), kTrouble;
    text = linker::diffPrograms(*before, *after);
  } else {
    // What is no executable says so itself.
    Result<abi::ExecutableView> before = abi::ExecutableView::create(bytes[0], options.files[0]);
    Result<abi::ExecutableView> after = abi::ExecutableView::create(bytes[1], options.files[1]);
    for (const auto *view : {&before, &after})
      if (!view->ok())
        return fail(view->status().message()), kTrouble;
    text = linker::diffExecutables(*before, *after);
  }
  if (printText(text) != 0)
    return kTrouble;
  return text.empty() ? 0 : 1;
}

int writeCubin(const Options &options, std::span<const abi::ExecutableView> executables) {
  const Result<std::string> cubin = linker::findImage(executables, options.exportName, abi::ImageKind::Cubin);
  if (!cubin.ok())
    return fail(cubin.status().message());
  if (Status distinct = checkOutputIsNotInput(options.cubin, options.files.front()); !distinct.ok())
    return fail(distinct.message());
  const Status written = writeFile(options.cubin, *cubin);
  return written.ok() ? 0 : fail(written.message());
}

int dumpFile(const Options &options) {
  const std::string &path = options.files.front();
  Result<std::string> file = readFile(path);
  if (!file.ok())
    return fail(file.status().message());
  const std::vector<uint8_t> bytes = alignedCopy(*file);
  const std::string_view identifier = bytes.size() < 8 ? std::string_view() : std::string_view(*file).substr(4, 4);

  std::vector<abi::ExecutableView> executables;
  std::string text;
  JsonWriter json;
  if (identifier == abi::fb::ExecutableIdentifier()) {
    Result<abi::ExecutableView> view = abi::ExecutableView::create(bytes, path);
    if (!view.ok())
      return fail(view.status().message());
    if (options.json)
      linker::dumpExecutableJson(*view, bytes.size(), json);
    else
      text = linker::dumpExecutable(*view, bytes.size());
    executables.push_back(view.take());
  } else if (identifier == abi::fb::ProgramIdentifier()) {
    Result<abi::ProgramView> view = abi::ProgramView::create(bytes, path);
    if (!view.ok())
      return fail(view.status().message());
    if (options.json)
      linker::dumpProgramJson(*view, bytes.size(), json);
    else
      text = linker::dumpProgram(*view, bytes.size());
    for (size_t i = 0; i < view->executableCount(); ++i)
      executables.push_back(view->executableAt(i));
  } else {
    return fail(concat("'", path, "': found ", abi::describeFile(*file),
                       ", an executable (TNX1) or a program (TNP1) is wanted"));
  }
  if (options.json)
    return printText(json.take() + '\n');
  if (options.list)
    return printText(linker::listImages(executables));
  if (!options.cubin.empty())
    return writeCubin(options, executables);
  if (!options.ptx && !options.sass && !options.symbols)
    return printText(text);
  Result<std::string> view = options.symbols        ? linker::listSymbols(executables)
                             : options.sass         ? linker::machineCode(executables, *options.sass)
                             : options.ptx->empty() ? linker::allPtx(executables)
                                                    : linker::findImage(executables, *options.ptx, abi::ImageKind::Ptx);
  return view.ok() ? printText(*view) : fail(view.status().message());
}

} // namespace

int main(int argc, char **argv) {
  reportMissingMemory("tenon-dump");
  Options options;
  CommandLine commandLine("tenon-dump",
                          "FILE [--json | --list | --symbols | --ptx | --sass | --cubin=FILE] | --diff FILE FILE",
                          "Prints what is in an executable (.tnx) or a program (.tenon); - is standard input.\n"
                          "The file is verified first, by the rules that a loader verifies by.");
  commandLine.flag("json", &options.json, "print JSON");
  commandLine.flag("list", &options.list, "list the images: target, PTX or cubin, bytes, variant");
  commandLine.flag("symbols", &options.symbols, "list entry points, functions and variables of every image");
  commandLine.optionalText("ptx", "EXPORT[@TARGET]", &options.ptx,
                           "print all PTX, or the PTX that holds an export: of the first variant that has\nit, or of "
                           "the target or variant named, as in --ptx=saxpy@sm_80");
  commandLine.optionalText("sass", "EXPORT[@TARGET]", &options.sass,
                           "print the machine code of all cubins, or of that one; needs CUDA's nvdisasm");
  commandLine.text("cubin", "FILE", &options.cubin, "write the cubin to FILE; with --export where there are several");
  commandLine.text("export", "EXPORT[@TARGET]", &options.exportName, "with --cubin: the cubin that holds this export");
  commandLine.flag("diff", &options.diff, "compare two files: exports, layouts, launches, variants, resources, images");
  commandLine.example("tenon-dump kernels.tnx", "exports with the offsets of their parameters, variants, resources");
  commandLine.example("tenon-dump kernels.tnx --ptx=saxpy@sm_80", "the PTX that runs saxpy on sm_80");
  commandLine.example("tenon-dump kernels.tnx --cubin=saxpy.cubin --export=saxpy@sm_90",
                      "the cubin, for cuobjdump, nvdisasm or a profiler");
  commandLine.example("tenon-dump --diff old.tenon new.tenon", "what changed, kernel by kernel");
  commandLine.exitStatus(0, "the work is done; with --diff: the files are the same");
  commandLine.exitStatus(1, "the work failed; with --diff: the files differ");
  commandLine.exitStatus(2, "the command line is wrong; with --diff: the comparison failed");
  commandLine.environment("CUDA_HOME", "the CUDA toolkit with nvdisasm, searched first; then CUDA_PATH and PATH");
  commandLine.environment("NO_COLOR", "no colours, on a terminal either");
  commandLine.versions([] { return abi::libraryVersions() + linker::toolkitVersions(); });
  commandLine.positional(&options.files);
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;
  if (options.diff) {
    if (options.files.size() != 2 || !options.views().empty())
      return commandLine.usageError("--diff takes two files, and no other view of them");
    return diffFiles(options);
  }
  if (options.files.size() != 1)
    return commandLine.usageError(options.files.empty() ? "no file given" : "more than one file given");
  if (const auto views = options.views(); views.size() > 1)
    return commandLine.usageError(concat(views[0], " and ", views[1], " exclude each other"));
  if (!options.exportName.empty() && options.cubin.empty())
    return commandLine.usageError("--export needs --cubin; --ptx and --sass take the export behind a '='");
  return dumpFile(options);
}
