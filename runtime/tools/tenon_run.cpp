// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-run: calls a function of a program.
//
//   tenon-run example.tenon --function=mixed_invocation --input=8xf32=2 --input=8xf32=4
//   EXEC @mixed_invocation
//   result[0]: hal.buffer_view
//   8xf32=96 96 96 96 96 96 96 96
//
// Results and the table of --explain go to stdout, notices and errors to stderr. Exit status: 0; 1 when the work failed
// or an expected output differs; 2 when the command line itself is wrong.
#include "runtime/device/device.h"
#include "runtime/executable/jit_cache.h"
#include "runtime/program/program.h"
#include "runtime/program/program_file.h"
#include "runtime/tools/common_options.h"
#include "runtime/tools/compare.h"
#include "runtime/tools/count_option.h"
#include "runtime/tools/input_values.h"
#include "runtime/tools/interrupt.h"
#include "runtime/tools/kernel_output.h"
#include "support/memory.h"
#include "support/number.h"
#include "support/process/command_line.h"
#include "support/process/phases.h"

#include <cstdio>
#include <cstdlib>

using namespace tenon;
using namespace tenon::runtime;

namespace {

struct Options {
  std::vector<std::string> files, modules;
  std::string function, device, cacheFolder, trace, printf;
  ImageChoice images;
  std::vector<std::string> inputs, outputs, expected;
  std::string maxElements = "1024", f16Threshold, bf16Threshold, f32Threshold, f64Threshold;
  bool explain = false, statistics = false, synchronous = false;
};

Result<double> parseThreshold(const char *name, const std::string &text, double otherwise) {
  if (text.empty())
    return otherwise;
  const std::optional<double> value = parseDouble(text);
  if (!value || !(*value >= 0))
    return makeError(StatusCode::InvalidArgument, "--", name, "=", text, ": expected a number of at least 0");
  return *value;
}

Result<Thresholds> parseThresholds(const Options &options) {
  Thresholds out;
  TENON_ASSIGN_OR_RETURN(out.bf16, parseThreshold("expected_bf16_threshold", options.bf16Threshold, out.bf16));
  TENON_ASSIGN_OR_RETURN(out.f16, parseThreshold("expected_f16_threshold", options.f16Threshold, out.f16));
  TENON_ASSIGN_OR_RETURN(out.f32, parseThreshold("expected_f32_threshold", options.f32Threshold, out.f32));
  TENON_ASSIGN_OR_RETURN(out.f64, parseThreshold("expected_f64_threshold", options.f64Threshold, out.f64));
  return out;
}

Result<std::vector<HostValue>> downloadResults(Device &device, const std::vector<Value> &results) {
  std::vector<HostValue> out;
  for (const Value &result : results) {
    if (const Tensor *tensor = std::get_if<Tensor>(&result)) {
      TENON_ASSIGN_OR_RETURN(HostTensor downloaded, downloadTensor(device, *tensor));
      out.push_back(std::move(downloaded));
    } else {
      out.push_back(*std::get_if<Scalar>(&result));
    }
  }
  return out;
}

/// Prints or writes the results.
Status putResults(const Options &options, const std::vector<HostValue> &results, size_t maxElements) {
  if (!options.outputs.empty() && options.outputs.size() != results.size())
    return makeError(StatusCode::InvalidArgument, options.outputs.size(), " --output given, the function has ",
                     results.size(), results.size() == 1 ? " result" : " results");
  std::string text;
  for (size_t i = 0; i < results.size(); ++i)
    TENON_RETURN_IF_ERROR(writeResult(options.outputs.empty() ? std::string_view("-") : options.outputs[i], i,
                                      results[i], maxElements, text));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return okStatus();
}

/// Expected values have the types that the function's results are declared with.
Result<std::vector<OptionalValue>> readExpected(const Options &options, const abi::fb::Function &function) {
  std::vector<const abi::fb::ValueType *> types;
  for (uint32_t i = 0; function.results() && i < function.results()->size(); ++i)
    types.push_back(function.results()->Get(i)->type());
  return ValueReader().readAll(options.expected, types, "expected output");
}

struct OpenedFile {
  std::string path;
  ProgramFile file;
};

/// The program to run: the only one given, or the one among several that has the function.
Result<OpenedFile> openProgram(const Options &options) {
  std::vector<OpenedFile> opened;
  for (const std::string &path : options.files) {
    TENON_ASSIGN_OR_RETURN(ProgramFile file, ProgramFile::open(path));
    opened.push_back({path, std::move(file)});
  }
  if (opened.size() == 1)
    return std::move(opened.front());
  if (options.function.empty())
    return makeError(StatusCode::InvalidArgument, opened.size(), " programs given: name the function with --function");
  OpenedFile *found = nullptr;
  for (OpenedFile &candidate : opened) {
    TENON_ASSIGN_OR_RETURN(abi::ProgramView view, abi::ProgramView::create(candidate.file.bytes(), candidate.path));
    if (!view.findFunction(options.function).ok())
      continue;
    if (found)
      return makeError(StatusCode::InvalidArgument, "function '", options.function, "' is in '", found->path,
                       "' and in '", candidate.path, "'");
    found = &candidate;
  }
  if (!found)
    return makeError(StatusCode::NotFound, "none of the ", opened.size(), " programs has a function '",
                     options.function, "'");
  return std::move(*found);
}

/// The exit status, or why there is none.
Result<int> run(const Options &options, const std::shared_ptr<Trace> &trace, Phases &phases) {
  TENON_ASSIGN_OR_RETURN(const size_t maxElements, parseCount("output_max_element_count", options.maxElements, 0));
  TENON_ASSIGN_OR_RETURN(Thresholds thresholds, parseThresholds(options));
  TENON_ASSIGN_OR_RETURN(cuda::DeviceSelector selector, cuda::DeviceSelector::parse(options.device));
  TENON_ASSIGN_OR_RETURN(ExecutableOptions images, readImageOptions(options.images));
  if (!options.cacheFolder.empty()) {
    TENON_ASSIGN_OR_RETURN(images.cache, JitCache::open(options.cacheFolder));
  }

  // The program, on a device.
  phases.begin("open the device");
  TENON_ASSIGN_OR_RETURN(OpenedFile opened, openProgram(options));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, Device::open(selector, cuda::DriverSearch::fromEnvironment()));
  reportOnInterrupt(*device);
  device->setTrace(trace);
  if (const std::string &notice = device->driver().notice(); !notice.empty())
    std::fprintf(stderr, "tenon-run: %s\n", notice.c_str());
  phases.begin("load the program");
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Program> program,
                         Program::load(device, opened.file.bytes(), opened.path, images));
  if (options.explain) {
    const std::string text = program->explain();
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (options.function.empty() && options.inputs.empty())
      return 0; // asked for nothing else
  }

  // The call.
  phases.begin("read inputs");
  TENON_ASSIGN_OR_RETURN(uint32_t index, program->findFunction(options.function));
  const abi::fb::Function &function = program->function(index);
  TENON_ASSIGN_OR_RETURN(std::vector<OptionalValue> hostInputs, readInputs(options.inputs, function));
  std::vector<OptionalValue> expected;
  if (!options.expected.empty()) {
    TENON_ASSIGN_OR_RETURN(expected, readExpected(options, function));
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Value> inputs, uploadInputs(*device, hostInputs));
  TENON_RETURN_IF_ERROR(program->checkInputs(index, inputs));
  std::printf("EXEC @%s\n", function.name()->c_str());
  std::fflush(stdout);
  phases.begin("call");
  KernelOutput output;
  CallOptions how;
  how.synchronous = options.synchronous;
  how.observer = options.printf == "prefix" ? &output : nullptr;
  TENON_ASSIGN_OR_RETURN(std::vector<Value> results, program->call(index, inputs, how));
  TENON_RETURN_IF_ERROR(output.takeStatus());

  // What came out.
  phases.begin("read results");
  TENON_ASSIGN_OR_RETURN(std::vector<HostValue> hostResults, downloadResults(*device, results));
  int exitStatus = 0;
  if (options.expected.empty() || !options.outputs.empty())
    TENON_RETURN_IF_ERROR(putResults(options, hostResults, maxElements));
  if (!options.expected.empty()) {
    std::string report;
    exitStatus = compareResults(expected, hostResults, thresholds, maxElements, report) ? 0 : kExitFailure;
    std::fwrite(report.data(), 1, report.size(), stdout);
  }
  if (options.statistics) {
    std::fflush(stdout);
    std::fputs(device->statistics().toString().c_str(), stderr);
  }
  return exitStatus;
}

} // namespace

int main(int argc, char **argv) {
  reportMissingMemory("tenon-run");
  Options options;
  CommandLine commandLine("tenon-run", "FILE.tenon|- --function=NAME [--input=VALUE...]",
                          "Calls a function of a program and prints its results.");
  commandLine.positional(&options.files);
  commandLine.list("module", "FILE", &options.modules,
                   "the program (- is standard input), instead of as argument; of several, the one with the function");
  commandLine.text("function", "NAME", &options.function, "the function to call; may be left out when there is one");
  declareInputs(commandLine, &options.inputs);
  commandLine.list("output", "WHERE", &options.outputs,
                   "- (print), @f.npy, +f.npy (append), @f.bin (raw), empty (drop); one per result");
  commandLine.mayBeEmpty();
  commandLine.list("expected_output", "VALUE", &options.expected,
                   "compare instead of printing; (ignored) matches anything; one per result");
  commandLine.alias("expected-output");
  commandLine.text("expected_f16_threshold", "X", &options.f16Threshold, "tolerance of f16 (0.001)");
  commandLine.text("expected_bf16_threshold", "X", &options.bf16Threshold, "tolerance of bf16 (0.01)");
  commandLine.text("expected_f32_threshold", "X", &options.f32Threshold, "tolerance of f32 (0.0001)");
  commandLine.text("expected_f64_threshold", "X", &options.f64Threshold, "tolerance of f64 (0.0001)");
  commandLine.text("output_max_element_count", "N", &options.maxElements, "print at most N elements (1024)");
  declareDevice(commandLine, &options.device);
  declareImages(commandLine, &options.images);
  commandLine.text("cache-dir", "DIR", &options.cacheFolder,
                   "keep PTX that a GPU's driver compiled in DIR/jit (as TENON_CACHE_DIR; default: tenon in\n"
                   "$XDG_CACHE_HOME, else in ~/.cache); none keeps nothing");
  commandLine.flag("explain", &options.explain, "print each kernel's images, chosen or refused and why");
  declareTrace(commandLine, &options.trace);
  declareSynchronous(commandLine, &options.synchronous);
  commandLine.text("printf", "plain|prefix", &options.printf,
                   "prefix: dispatches run one at a time, and each line that a kernel prints begins with its export;\n"
                   "plain: lines come as the driver writes them");
  commandLine.flag("print-statistics", &options.statistics,
                   "print counts to stderr: memory, launches, modules, compilations, graphs");
  commandLine.alias("print_statistics");
  Phases phases("tenon-run");
  commandLine.phases(phases);
  commandLine.example("tenon-run example.tenon --function=f --input=8xf32=2 --input=@x.npy",
                      "calls f and prints its results");
  commandLine.example("tenon-run example.tenon --function=f --input=8xf32=2 --output=@out.npy", "keeps its result");
  commandLine.example("tenon-run example.tenon --function=f --input=8xf32=2 --expected_output=8xf32=4",
                      "compares it; exit status 1 where it differs");
  commandLine.example("tenon-run example.tenon --explain", "which image of every kernel runs here, and why");
  commandLine.example("TENON_EMULATOR_SM=80 tenon-run example.tenon --device=emulator --input=8xf32=2",
                      "without a GPU, as an sm_80");
  commandLine.exitStatus(1, "the work failed, or an expected output differs");
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;
  if (options.files.size() > 1)
    return commandLine.usageError("more than one program given: several are given with --module");
  if (!options.printf.empty() && options.printf != "plain" && options.printf != "prefix")
    return commandLine.usageError(concat("--printf=", options.printf, ": expected plain or prefix"));
  if (const std::string_view conflict = conflictOf(options.images); !conflict.empty())
    return commandLine.usageError(conflict);
  options.files.insert(options.files.end(), options.modules.begin(), options.modules.end());
  if (options.files.empty())
    return commandLine.usageError("no program given");

  const std::shared_ptr<Trace> trace = startTrace(options.trace);
  Result<int> status = run(options, trace, phases);
  if (Status written = writeTrace(trace.get(), options.trace); !written.ok() && status.ok())
    status = std::move(written);
  if (status.ok())
    return finishOutput("tenon-run", *status);
  return reportFailure("tenon-run", status.status().message());
}
