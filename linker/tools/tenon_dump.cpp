// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-dump: what is in an executable (.tnx) or a program (.tenon).
#include "abi/format/file_kind.h"
#include "linker/tools/diff.h"
#include "linker/tools/dump.h"
#include "support/files/file.h"
#include "support/memory.h"
#include "support/process/command_line.h"
#include "support/text/nearest_names.h"

#include <cstdio>

using namespace tenon;

namespace {

int fail(std::string_view message) {
  std::fprintf(stderr, "tenon-dump: error: %.*s\n", int(message.size()), message.data());
  return kExitFailure;
}

/// PTX of `what` ("EXPORT" or "EXPORT@TARGET") of the executables. Without a target: of the first variant that has it.
Result<std::string> findPtx(std::span<const abi::ExecutableView> executables, const std::string &what) {
  const size_t at = what.find('@');
  const std::string name = what.substr(0, at);
  const std::string target = at == std::string::npos ? "" : what.substr(at + 1);
  std::vector<std::string> known, targets;
  for (const abi::ExecutableView &executable : executables) {
    for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal) {
      known.push_back(executable.exportAt(ordinal).name);
      if (known.back() != name)
        continue;
      for (const abi::Candidate &candidate : executable.candidates(ordinal)) {
        if (candidate.kind != abi::ImageKind::Ptx)
          continue;
        targets.push_back(candidate.arch.toString());
        if (!target.empty() && target != targets.back() && target != candidate.variantName)
          continue;
        TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, executable.imageBytes(candidate.imageIndex));
        return std::string(bytes.begin(), bytes.end());
      }
    }
  }
  if (!targets.empty())
    return makeError(StatusCode::NotFound, "export '", name, "' has no PTX for '", target, "'; it has ",
                     quotedList(targets));
  return makeError(StatusCode::NotFound, "no PTX for an export '", name, "'; the exports are ", quotedList(known));
}

/// The bytes in memory that is aligned for views: a vector's, where a string may keep short contents inside itself.
std::vector<uint8_t> alignedCopy(const std::string &bytes) {
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

struct Options {
  std::vector<std::string> files;
  bool json = false, diff = false;
  std::string ptx;
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
  if (options.ptx.empty())
    return printText(options.json ? json.take() + '\n' : text);
  Result<std::string> ptx = findPtx(executables, options.ptx);
  return ptx.ok() ? printText(*ptx) : fail(ptx.status().message());
}

} // namespace

int main(int argc, char **argv) {
  reportMissingMemory("tenon-dump");
  Options options;
  CommandLine commandLine("tenon-dump", "FILE [--json] [--ptx=EXPORT[@TARGET]] | --diff FILE FILE",
                          "Prints what is in an executable (.tnx) or a program (.tenon); - is standard input.\n"
                          "The file is verified first, by the rules that a loader verifies by.");
  commandLine.flag("json", &options.json, "print JSON");
  commandLine.flag("diff", &options.diff,
                   "compare two files: exports, layouts, launches, variants, resources, images;\n"
                   "exit status 0: the same, 1: different, 2: trouble");
  commandLine.text(
      "ptx", "EXPORT[@TARGET]", &options.ptx,
      "print the PTX that holds an export, of the first variant\nor of the target or variant named: --ptx=saxpy@sm_80");
  commandLine.positional(&options.files);
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;
  if (options.diff) {
    if (options.files.size() != 2 || options.json || !options.ptx.empty())
      return commandLine.usageError("--diff takes two files, and neither --json nor --ptx");
    return diffFiles(options);
  }
  if (options.files.size() != 1)
    return commandLine.usageError(options.files.empty() ? "no file given" : "more than one file given");
  if (options.json && !options.ptx.empty())
    return commandLine.usageError("--json and --ptx exclude each other");
  return dumpFile(options);
}
