// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-benchmark: how long calls of a program's functions take, by Google Benchmark.
//
//   tenon-benchmark example.tenon --function=mixed_invocation --input=8xf32=2 --input=8xf32=4
//   mixed_invocation/latency/real_time ...
//   mixed_invocation/throughput/real_time ...
//   mixed_invocation/device/manual_time ...
//
// Times go to stdout, notices and errors to stderr. Exit status as tenon-run's: 0; 1 when the work failed; 2 when the
// command line itself is wrong. The emulator's times say nothing about a GPU: there each function runs once in each of
// the three ways, and no time is reported.
#include "runtime/device/device.h"
#include "runtime/program/program_file.h"
#include "runtime/tools/common_options.h"
#include "runtime/tools/count_option.h"
#include "runtime/tools/input_values.h"
#include "runtime/tools/interrupt.h"
#include "runtime/tools/timed_call.h"
#include "support/memory.h"
#include "support/process/command_line.h"
#include "support/process/phases.h"

#include <benchmark/benchmark.h>
#include <cstdio>

using namespace tenon;
using namespace tenon::runtime;

namespace {

struct Options {
  std::vector<std::string> files, functions, inputs;
  std::string device, variant, batch = "100", bytes;
};

/// What the benchmarks of one function share.
struct Job {
  std::unique_ptr<TimedCall> timed;
  uint64_t batch = 0, bytes = 0;
  Status failure = okStatus(); // of any of them: the first

  void fail(benchmark::State &state, const Status &status) {
    state.SkipWithError(std::string(status.message()).c_str());
    if (failure.ok())
      failure = status.clone();
  }
  void report(benchmark::State &state) const {
    state.SetItemsProcessed(state.iterations());
    if (bytes)
      state.SetBytesProcessed(state.iterations() * int64_t(bytes));
  }
};

void measureLatency(Job &job, benchmark::State &state) {
  while (state.KeepRunning())
    if (Status status = job.timed->call(); !status.ok())
      return job.fail(state, status);
  job.report(state);
}

// An iteration is a call here too, so that the times of all three compare; they run a batch at a time.
void measureThroughput(Job &job, benchmark::State &state) {
  while (state.KeepRunningBatch(int64_t(job.batch)))
    if (Status status = job.timed->callMany(job.batch); !status.ok())
      return job.fail(state, status);
  job.report(state);
}

void measureDevice(Job &job, benchmark::State &state) {
  while (state.KeepRunningBatch(int64_t(job.batch))) {
    Result<double> seconds = job.timed->deviceSeconds(job.batch);
    if (!seconds.ok())
      return job.fail(state, seconds.status());
    if (*seconds <= 0) // Google Benchmark would try ever larger numbers of iterations
      return job.fail(state, makeError(StatusCode::OutOfRange, "function '", job.timed->name(), "': the device did ",
                                       job.batch, " calls in no time that its events can tell: take a larger --batch"));
    state.SetIterationTime(*seconds);
  }
  job.report(state);
}

void registerBenchmarks(Job &job) {
  const std::string name = job.timed->name();
  benchmark::RegisterBenchmark((name + "/latency").c_str(),
                               [&job](benchmark::State &state) { measureLatency(job, state); })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark((name + "/throughput").c_str(),
                               [&job](benchmark::State &state) { measureThroughput(job, state); })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark((name + "/device").c_str(),
                               [&job](benchmark::State &state) { measureDevice(job, state); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

/// The ways of measuring, each with one call; what they measure is dropped.
Status smokeTest(Job &job) {
  std::printf("EXEC @%s\n", job.timed->name().c_str());
  std::fflush(stdout);
  TENON_RETURN_IF_ERROR(job.timed->callMany(1));
  return job.timed->deviceSeconds(1).takeStatus();
}

Status measure(const Options &options, const Device &device, std::vector<Job> &jobs) {
  if (device.isEmulator()) {
    for (Job &job : jobs)
      TENON_RETURN_IF_ERROR(smokeTest(job));
    std::printf("no times are reported: %s interprets kernels, how fast says nothing about a GPU\n",
                device.description().c_str());
    return okStatus();
  }
  benchmark::AddCustomContext("tenon", TENON_VERSION);
  benchmark::AddCustomContext("program", options.files.front());
  benchmark::AddCustomContext("device", device.description());
  for (size_t i = 0; i < options.inputs.size(); ++i)
    benchmark::AddCustomContext(concat("input ", i), options.inputs[i].substr(0, 80));
  for (Job &job : jobs)
    registerBenchmarks(job);
  if (benchmark::RunSpecifiedBenchmarks() == 0)
    return makeError(StatusCode::NotFound, "--benchmark_filter leaves no benchmark");
  for (Job &job : jobs)
    if (!job.failure.ok())
      return std::move(job.failure);
  return okStatus();
}

Status run(const Options &options, Phases &phases) {
  TENON_ASSIGN_OR_RETURN(const uint64_t batch, parseCount("batch", options.batch, 1));
  uint64_t bytes = 0;
  if (!options.bytes.empty()) {
    TENON_ASSIGN_OR_RETURN(bytes, parseCount("bytes", options.bytes, 1));
  }
  TENON_ASSIGN_OR_RETURN(cuda::DeviceSelector selector, cuda::DeviceSelector::parse(options.device));
  TENON_ASSIGN_OR_RETURN(ExecutableOptions images, ExecutableOptions::fromEnvironment());
  images.variant = options.variant;

  // The program, on a device.
  phases.begin("load the program");
  TENON_ASSIGN_OR_RETURN(ProgramFile file, ProgramFile::open(options.files.front()));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, Device::open(selector, cuda::DriverSearch::fromEnvironment()));
  reportOnInterrupt(*device);
  if (const std::string &notice = device->driver().notice(); !notice.empty())
    std::fprintf(stderr, "tenon-benchmark: %s\n", notice.c_str());
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Program> program,
                         Program::load(device, file.bytes(), options.files.front(), images));

  // Every function is called once before any is measured: what is wrong is said before minutes have passed.
  std::vector<Job> jobs;
  for (const std::string &name : options.functions) {
    TENON_ASSIGN_OR_RETURN(uint32_t index, program->findFunction(name));
    TENON_ASSIGN_OR_RETURN(std::vector<OptionalValue> hostInputs, readInputs(options.inputs, program->function(index)));
    TENON_ASSIGN_OR_RETURN(std::vector<Value> inputs, uploadInputs(*device, hostInputs));
    Job job;
    TENON_ASSIGN_OR_RETURN(job.timed, TimedCall::create(*program, index, std::move(inputs)));
    job.batch = batch;
    job.bytes = bytes ? bytes : job.timed->bytes();
    jobs.push_back(std::move(job));
  }
  phases.begin("measure");
  return measure(options, *device, jobs);
}

/// Takes Google Benchmark's flags out of `arguments` and gives them to it; what it does not know comes back.
std::vector<std::string> takeBenchmarkFlags(std::vector<char *> &arguments) {
  std::vector<char *> theirs = {arguments.front()}, ours = {arguments.front()};
  for (size_t i = 1; i < arguments.size(); ++i)
    (std::string_view(arguments[i]).starts_with("--benchmark_") ? theirs : ours).push_back(arguments[i]);
  arguments = std::move(ours);
  int count = int(theirs.size());
  theirs.push_back(nullptr);
  benchmark::Initialize(&count, theirs.data());
  return {theirs.begin() + 1, theirs.begin() + count};
}

} // namespace

int main(int argc, char **argv) {
  reportMissingMemory("tenon-benchmark");
  Options options;
  CommandLine commandLine(
      "tenon-benchmark", "FILE.tenon|- --function=NAME [--input=VALUE...] [--benchmark_FLAG=VALUE...]",
      "Measures calls of a program's functions: latency (the host's time of one call, waited for),\n"
      "throughput (calls given to a stream back to back, then waited for), and device (the time\n"
      "between events around such calls). On the emulator nothing is measured: each function runs\n"
      "once in each way. Google Benchmark's flags are passed on: --benchmark_repetitions=N,\n"
      "--benchmark_format=json, --benchmark_out=FILE, --benchmark_filter=REGEX, and so on.");
  commandLine.positional(&options.files);
  commandLine.list("function", "NAME", &options.functions,
                   "a function to measure; may be left out when there is one; all that are given take the same inputs");
  declareInputs(commandLine, &options.inputs);
  commandLine.text("batch", "N", &options.batch, "calls between two waits, for throughput and device (100)");
  commandLine.text("bytes", "N", &options.bytes,
                   "bytes that a call moves, for bytes_per_second; left out: those of its inputs and results");
  declareDevice(commandLine, &options.device);
  declareVariant(commandLine, &options.variant);
  Phases phases("tenon-benchmark");
  commandLine.phases(phases);
  commandLine.example("tenon-benchmark example.tenon --function=f --input=1048576xf32=1",
                      "all three ways of measuring");
  commandLine.example("tenon-benchmark example.tenon --function=f --input=1048576xf32=1 --benchmark_filter=device "
                      "--benchmark_format=json",
                      "the device's time alone, for programs to read");
  std::vector<char *> arguments(argv, argv + argc);
  const std::vector<std::string> unknown = takeBenchmarkFlags(arguments);
  if (std::optional<int> status = commandLine.parse(int(arguments.size()), arguments.data()))
    return *status;
  if (!unknown.empty())
    return commandLine.usageError(concat("Google Benchmark does not take '", unknown.front(), "'"));
  if (options.files.size() != 1)
    return commandLine.usageError(options.files.empty() ? "no program given" : "more than one program given");
  if (options.functions.empty())
    options.functions.emplace_back();

  Status status = run(options, phases);
  if (status.ok())
    return finishOutput("tenon-benchmark", 0);
  return reportFailure("tenon-benchmark", status.message());
}
