// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The log of ptxas 11 to 13, line by line:
//
//   ptxas in.ptx, line 48; error   : Unknown modifier '.q32'
//   ptxas fatal   : Value 'sm_61' is not defined for option 'gpu-name'
//   ptxas info    : Compiling entry function 'k' for 'sm_80'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 14 registers, used 1 barriers, 256 bytes smem, 392 bytes cmem[0]
//
// "Function properties" are also given for functions that the entry calls; "Used" belongs to the entry compiled last.
#include "linker/assembler/ptxas.h"

#include "linker/assembler/find_program.h"
#include "support/number.h"
#include "support/text/text.h"

namespace tenon::linker {
namespace {

/// The number just before `unit` ("256 bytes smem"), or 0.
uint32_t amountOf(std::string_view line, std::string_view unit) {
  const size_t at = line.find(unit);
  if (at == std::string_view::npos || at == 0)
    return 0;
  const std::string_view head = trimmed(line.substr(0, at));
  return parseNumber<uint32_t>(head.substr(head.find_last_not_of("0123456789") + 1)).value_or(0);
}

std::string_view quotedName(std::string_view line) {
  const size_t open = line.find('\'');
  const size_t close = open == std::string_view::npos ? open : line.find('\'', open + 1);
  return close == std::string_view::npos ? std::string_view() : line.substr(open + 1, close - open - 1);
}

class LogReader {
public:
  Assembly run(std::string_view log) {
    while (!log.empty()) {
      const std::string_view line = log.substr(0, log.find('\n'));
      log.remove_prefix(std::min(line.size() + 1, log.size()));
      readLine(trimmed(line));
    }
    return std::move(assembly_);
  }

private:
  void readLine(std::string_view line) {
    if (line.find("bytes stack frame") != std::string_view::npos)
      return readProperties(line);
    if (!line.starts_with("ptxas"))
      return;
    // "ptxas [FILE, line N; ]KIND : TEXT"
    for (std::string_view kind : {"error", "fatal", "warning", "info"}) {
      const size_t at = findKind(line, kind);
      if (at == std::string_view::npos)
        continue;
      const std::string_view text = trimmed(line.substr(line.find(':', at) + 1));
      if (kind == "info")
        return readInfo(text);
      return addMessage(kind == "warning" ? Severity::Warning : Severity::Error, lineNumber(line.substr(0, at)), text);
    }
  }

  /// Where the kind's word stands: behind "ptxas " or "; ", and before blanks and a colon.
  static size_t findKind(std::string_view line, std::string_view kind) {
    for (size_t at = line.find(kind); at != std::string_view::npos; at = line.find(kind, at + 1)) {
      const std::string_view before = trimmed(line.substr(0, at));
      const std::string_view after = trimmed(line.substr(at + kind.size()));
      if ((before == "ptxas" || before.ends_with(';')) && after.starts_with(':'))
        return at;
    }
    return std::string_view::npos;
  }

  static uint32_t lineNumber(std::string_view head) {
    const size_t at = head.rfind(", line ");
    if (at == std::string_view::npos)
      return 0;
    std::string_view text = head.substr(at + 7);
    return takeNumber<uint32_t>(text).value_or(0);
  }

  void addMessage(Severity severity, uint32_t line, std::string_view text) {
    if (text.find("is not defined for option 'gpu-name'") != std::string_view::npos)
      assembly_.outcome = Assembly::Outcome::UnknownTarget;
    else if (text.starts_with("Unsupported .version"))
      assembly_.outcome = Assembly::Outcome::NewerIsa;
    else if (text.starts_with("Ptx assembly aborted"))
      return; // the errors before it said why
    assembly_.messages.push_back({severity, line, std::string(text)});
  }

  void readInfo(std::string_view text) {
    if (text.starts_with("Compiling entry function"))
      assembly_.kernels.push_back({.name = std::string(quotedName(text))});
    else if (constexpr std::string_view kProperties = "Function properties for "; text.starts_with(kProperties))
      function_ = text.substr(kProperties.size());
    else if (text.starts_with("Used ") && !assembly_.kernels.empty()) {
      assembly_.kernels.back().registers = amountOf(text, " registers");
      assembly_.kernels.back().sharedBytes = amountOf(text, " bytes smem");
    }
  }

  void readProperties(std::string_view line) {
    if (assembly_.kernels.empty() || assembly_.kernels.back().name != function_)
      return;
    assembly_.kernels.back().stackBytes = amountOf(line, " bytes stack frame");
    assembly_.kernels.back().spillStoreBytes = amountOf(line, " bytes spill stores");
    assembly_.kernels.back().spillLoadBytes = amountOf(line, " bytes spill loads");
  }

  Assembly assembly_;
  std::string_view function_;
};

} // namespace

Result<std::string> findPtxas(const std::string &given) {
  return findCudaProgram("ptxas", given);
}

Assembly parsePtxasLog(std::string_view log, int exitStatus) {
  Assembly assembly = LogReader().run(log);
  if (exitStatus == 0)
    assembly.outcome = Assembly::Outcome::Assembled;
  else if (assembly.messages.empty())
    assembly.messages.push_back(
        {Severity::Error, 0, concat("it ended with status ", exitStatus, " and without a message")});
  return assembly;
}

Result<Assembly> runPtxas(const std::string &ptxas, abi::TargetArch target, std::string_view text, std::string *log) {
  TENON_ASSIGN_OR_RETURN(MemoryFile input, MemoryFile::create("in.ptx", text));
  TENON_ASSIGN_OR_RETURN(MemoryFile output, MemoryFile::create("out.cubin"));
  // The cubin records these options, but neither path.
  const std::vector<std::string> arguments = {ptxas,        "-v", "-arch=" + target.toString(),
                                              childPath(0), "-o", childPath(1)};
  const MemoryFile *const files[] = {&input, &output};
  TENON_ASSIGN_OR_RETURN(ProcessResult process, runProcess(arguments, files));
  Assembly assembly = parsePtxasLog(process.output, process.exitStatus);
  if (assembly.outcome == Assembly::Outcome::Assembled) {
    TENON_ASSIGN_OR_RETURN(assembly.cubin, output.contents());
  }
  if (log)
    *log = std::move(process.output);
  return assembly;
}

} // namespace tenon::linker
