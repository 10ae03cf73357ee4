// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-check: runs the tests that a program holds, functions without arguments whose check.expect_* say what must come
// out.
//
//   tenon-check tests.tenon
//   PASS @scale tests.mlir:9:3: check.expect_eq_const
//   FAIL @scale tests.mlir:10:3: check.expect_almost_eq: 1 of 4 elements differs by more than atol 0.0001 + ...
//       [2]: got 3, wanted 4
//   1 function: 1 expectation holds, 1 failed
//
// Rows go to stdout, notices and errors to stderr. Exit status: 0; 1 when an expectation or a call failed, or when
// there was nothing to run; 2 when the command line itself is wrong.
#include "runtime/device/device.h"
#include "runtime/program/program.h"
#include "runtime/program/program_file.h"
#include "runtime/tools/common_options.h"
#include "runtime/tools/interrupt.h"
#include "support/memory.h"
#include "support/process/command_line.h"
#include "support/process/phases.h"

#include <cstdio>

using namespace tenon;
using namespace tenon::runtime;

namespace {

struct Options {
  std::vector<std::string> files, functions;
  std::string device, trace;
  ImageChoice images;
  bool synchronous = false;
};

/// What is counted for the last line.
struct Counts {
  size_t functions = 0, held = 0, failed = 0, failedCalls = 0, skipped = 0;
};

std::string counted(size_t count, std::string_view one, std::string_view many) {
  return concat(count, ' ', count == 1 ? one : many);
}

void printRow(std::string_view verdict, std::string_view function, std::string_view text) {
  std::printf("%s\n", concat(verdict, " @", function, text.empty() ? "" : " ", text).c_str());
  std::fflush(stdout); // a fault may end the process
}

/// Calls one function and prints a row for each of its expectations, or one for the call.
void checkFunction(Program &program, uint32_t index, bool synchronous, Counts &counts) {
  const abi::fb::Function &function = program.function(index);
  const std::string_view name = function.name()->string_view();
  const size_t arguments = function.inputs() ? function.inputs()->size() : 0;
  if (arguments != 0) {
    ++counts.skipped;
    return printRow("SKIP", name, concat("takes ", counted(arguments, "argument", "arguments")));
  }
  ++counts.functions;
  std::vector<ExpectationOutcome> outcomes;
  CallOptions options;
  options.synchronous = synchronous;
  options.expectations = &outcomes;
  Result<std::vector<Value>> results = program.call(index, {}, options);
  if (!results.ok()) {
    ++counts.failedCalls;
    return printRow("FAIL", name, results.status().message());
  }
  if (outcomes.empty())
    printRow("PASS", name, "was called, and expects nothing");
  for (const ExpectationOutcome &outcome : outcomes) {
    ++(outcome.holds() ? counts.held : counts.failed);
    printRow(outcome.holds() ? "PASS" : "FAIL", name, outcome.toString());
  }
}

Result<std::vector<uint32_t>> functionsToRun(const Program &program, const std::vector<std::string> &names) {
  std::vector<uint32_t> indices;
  for (const std::string &name : names) {
    TENON_ASSIGN_OR_RETURN(const uint32_t index, program.findFunction(name));
    indices.push_back(index);
  }
  for (uint32_t i = 0; names.empty() && i < program.view().functionCount(); ++i)
    indices.push_back(i);
  return indices;
}

Status run(const Options &options, const std::shared_ptr<Trace> &trace, Counts &counts, Phases &phases) {
  phases.begin("open the device");
  TENON_ASSIGN_OR_RETURN(cuda::DeviceSelector selector, cuda::DeviceSelector::parse(options.device));
  TENON_ASSIGN_OR_RETURN(ExecutableOptions images, readImageOptions(options.images));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, Device::open(selector, cuda::DriverSearch::fromEnvironment()));
  reportOnInterrupt(*device);
  device->setTrace(trace);
  if (const std::string &notice = device->driver().notice(); !notice.empty())
    std::fprintf(stderr, "tenon-check: %s\n", notice.c_str());
  for (const std::string &path : options.files) {
    phases.begin(concat("check ", path));
    TENON_ASSIGN_OR_RETURN(ProgramFile file, ProgramFile::open(path));
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, Program::load(device, file.bytes(), path, images));
    TENON_ASSIGN_OR_RETURN(const std::vector<uint32_t> functions, functionsToRun(*program, options.functions));
    for (uint32_t function : functions)
      checkFunction(*program, function, options.synchronous, counts);
  }
  return okStatus();
}

std::string summary(const Counts &counts) {
  std::string text =
      concat(counted(counts.functions, "function", "functions"), ": ",
             counted(counts.held, "expectation holds", "expectations hold"), ", ", counts.failed, " failed");
  if (counts.failedCalls != 0)
    text += concat(", ", counted(counts.failedCalls, "call", "calls"), " failed");
  if (counts.skipped != 0)
    text += concat(", ", counts.skipped, " skipped");
  return text;
}

int fail(std::string_view why) {
  return reportFailure("tenon-check", why);
}

} // namespace

int main(int argc, char **argv) {
  reportMissingMemory("tenon-check");
  Options options;
  CommandLine commandLine("tenon-check", "FILE.tenon|-...",
                          "Calls every function that takes no arguments and says which check.expect_* hold.");
  commandLine.positional(&options.files);
  commandLine.list("function", "NAME", &options.functions, "call this one only; repeats");
  declareDevice(commandLine, &options.device);
  declareImages(commandLine, &options.images);
  declareTrace(commandLine, &options.trace);
  declareSynchronous(commandLine, &options.synchronous);
  Phases phases("tenon-check");
  commandLine.phases(phases);
  commandLine.example("tenon-check checks.tenon", "calls every function, and counts what holds");
  commandLine.example("tenon-check checks.tenon --function=multiplies --device=emulator", "one of them, without a GPU");
  commandLine.exitStatus(0, "every expectation holds");
  commandLine.exitStatus(1, "an expectation does not hold, or a call failed");
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;
  if (options.files.empty())
    return commandLine.usageError("no program given");
  if (const std::string_view conflict = conflictOf(options.images); !conflict.empty())
    return commandLine.usageError(conflict);

  Counts counts;
  const std::shared_ptr<Trace> trace = startTrace(options.trace);
  const Status status = run(options, trace, counts, phases);
  const Status written = writeTrace(trace.get(), options.trace);
  if (!status.ok())
    return fail(status.message());
  std::printf("%s\n", summary(counts).c_str());
  if (counts.functions == 0)
    return fail("nothing was run: no function takes no arguments");
  if (!written.ok())
    return fail(written.message());
  return finishOutput("tenon-check", counts.failed == 0 && counts.failedCalls == 0 ? 0 : kExitFailure);
}
