// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-tune: how the contractions of a program are computed fastest on this machine's device, measured, as a file that
// tenon-compile --tuning reads.
//
//   tenon-tune model.mlir -o model.tuning.json
//   tenon-compile model.mlir --tuning=model.tuning.json -o model.tenon
#include "compiler/bridge/llvm_errors.h"
#include "compiler/tools/native_target.h"
#include "linker/job/link_flags.h"
#include "runtime/tools/common_options.h"
#include "runtime/tools/count_option.h"
#include "runtime/tools/interrupt.h"
#include "support/files/file.h"
#include "support/memory.h"
#include "support/process/phases.h"
#include "tuner/measured.h"

#include <cstdio>
#include <filesystem>

using namespace tenon;
using namespace tenon::tuner;
using compiler::codegen::TuningEntry;

namespace {

constexpr char kTool[] = "tenon-tune";

struct Options {
  std::vector<std::string> inputs, parameters;
  linker::LinkFlags link;
  std::string output, target, device, rounds = "12", size = "0", f32Products = "exact", f32Convolutions = "direct",
                                      f8Sums = "f32", cudaPath;
  bool dryRun = false, emulatedTimes = false;
};

CommandLine commandLine(Options &options, Phases &phases) {
  CommandLine line(kTool, "PROGRAM.mlir -o FILE [--target=ARCH]",
                   "Finds how a program's matrix products and convolutions are computed fastest.\n"
                   "Each is compiled in every way that the compiler knows, the results are compared, and the\n"
                   "kernels race on the device. FILE is what tenon-compile --tuning=FILE reads; what it says of\n"
                   "other contractions and targets stays.");
  line.positional(&options.inputs);
  line.text("o", "FILE", &options.output, "write the choices and their times here; an existing file is extended");
  line.text("target", "ARCH", &options.target,
            "the architecture to tune for, as sm_90a (default: what runs best on the device)");
  line.words(linker::targetNames());
  line.flag("dry-run", &options.dryRun, "list the contractions and what can be chosen, with --target; needs no device");
  line.text("rounds", "N", &options.rounds, "measure each kernel N times, all of them in turn (12)");
  line.text("size", "N", &options.size,
            "race contractions with sizes that are known only when the program runs, with N for each of them;\n"
            "what is fastest then is chosen for all sizes (default: they are left out)");
  runtime::declareDevice(line, &options.device);
  line.flag("emulated-times", &options.emulatedTimes,
            "for tests of this tool: run on the emulator, whose times say nothing about a GPU");
  line.list("parameters", "SCOPE=FILE", &options.parameters, "as tenon-compile has it");
  line.text("f32-products", "exact|tf32", &options.f32Products, "as tenon-compile has it: tune with the same");
  line.text("f32-convolutions", "direct|winograd", &options.f32Convolutions, "the same");
  line.text("f8-sums", "f32|narrow", &options.f8Sums, "as tenon-compile has it: tune with the same");
  line.text("cuda-path", "DIR", &options.cudaPath, "CUDA toolkit that holds libdevice (default: searched for)");
  options.link.declare(line);
  line.versions([] {
    return compiler::compilerVersions() + abi::libraryVersions() +
           runtime::driverVersions(runtime::cuda::DriverSearch::fromEnvironment());
  });
  line.phases(phases);
  line.exitStatus(kExitFailure, "the work failed, or a kernel was wrong: then FILE is written without it");
  line.example("tenon-tune model.mlir -o model.tuning.json",
               "on this machine's GPU; tenon-compile --tuning=model.tuning.json compiles with it");
  line.example("tenon-tune model.mlir --dry-run --target=sm_90a", "what there is to choose");
  return line;
}

Result<compiler::CompileOptions> compileOptions(const Options &options) {
  compiler::CompileOptions compile;
  compile.objects.paths = options.link.searchPaths;
  compile.objects.inputFolder = std::filesystem::path(options.inputs.front()).parent_path().string();
  TENON_RETURN_IF_ERROR(options.link.applyTo(compile.link));
  compile.parameters = options.parameters;
  compile.cudaPath = options.cudaPath;
  if (options.f32Products != "exact" && options.f32Products != "tf32")
    return makeError(StatusCode::InvalidArgument, "--f32-products is 'exact' or 'tf32', not '", options.f32Products,
                     "'");
  if (options.f32Convolutions != "direct" && options.f32Convolutions != "winograd")
    return makeError(StatusCode::InvalidArgument, "--f32-convolutions is 'direct' or 'winograd', not '",
                     options.f32Convolutions, "'");
  compile.winograd = options.f32Convolutions == "winograd";
  compile.tf32Products = options.f32Products == "tf32";
  if (options.f8Sums != "f32" && options.f8Sums != "narrow")
    return makeError(StatusCode::InvalidArgument, "--f8-sums is 'f32' or 'narrow', not '", options.f8Sums, "'");
  compile.narrowF8Sums = options.f8Sums == "narrow";
  return compile;
}

void printCandidates(const Contraction &contraction) {
  std::printf("%s: %s\n", contraction.place.c_str(), contraction.key.c_str());
  if (!contraction.chosen)
    std::printf("  several kernels, one of which runs  chosen by the model\n");
  for (const TileChoice &choice : contraction.choices)
    std::printf("  %s%s\n", choice.text().c_str(),
                contraction.chosen && choice == *contraction.chosen
                    ? contraction.isPinned ? "  pinned by an attribute" : "  chosen by the model"
                    : "");
}

/// The file that is extended; empty: there is none yet.
Result<std::vector<TuningEntry>> readKnown(const std::string &path) {
  Result<FileBytes> bytes = FileBytes::read(path);
  if (!bytes.ok()) {
    if (bytes.status().code() == StatusCode::NotFound)
      return std::vector<TuningEntry>();
    return bytes.takeStatus();
  }
  const SourceFile file(path, bytes.take());
  std::string mistakes;
  std::optional<std::vector<TuningEntry>> known =
      compiler::codegen::readTuningFile(file, [&](const SourceLocation &place, const std::string &message) {
        mistakes += concat(mistakes.empty() ? "" : "\n", place.toString(), ": ", message);
      });
  if (!known)
    return makeError(StatusCode::InvalidArgument, "the file to extend cannot be read:\n", mistakes);
  return std::move(*known);
}

class Tuner {
public:
  Tuner(compiler::CompileOptions compile, std::shared_ptr<runtime::Device> device)
      : compile_(std::move(compile)), device_(std::move(device)) {}

  /// Fills entries(), and whether all went well. What is wrong with one contraction is said, and the others go on.
  Status run(const std::vector<Contraction> &contractions, uint32_t rounds, int64_t size) {
    TENON_ASSIGN_OR_RETURN(race_.images, runtime::ExecutableOptions::fromEnvironment());
    race_.rounds = rounds;
    race_.size = size;
    for (const Contraction &contraction : contractions) {
      Status tuned = runtime::isInterrupted() ? makeError(StatusCode::Aborted, "interrupted") : tune(contraction);
      if (tuned.ok())
        continue;
      isAllWell_ = false;
      reportFailure(kTool, tuned.message());
      if (runtime::isInterrupted())
        break; // what was measured is written
    }
    return okStatus();
  }

  std::vector<TuningEntry> &entries() { return entries_; }
  bool isAllWell() const { return isAllWell_; }

private:
  Status tune(const Contraction &contraction) {
    std::printf("%s: %s\n", contraction.place.c_str(), contraction.key.c_str());
    if (contraction.isPinned) {
      std::printf("  left out: an attribute pins it\n");
      return okStatus();
    }
    if (size_t(std::count(contraction.key.begin(), contraction.key.end(), '?')) != 0 && race_.size == 0) {
      std::printf("  left out: sizes are known only when the program runs; --size=N stands for each of them\n");
      return okStatus();
    }
    // The model's own is the first; what it chooses is no second one.
    std::vector<std::optional<TileChoice>> choices = {contraction.chosen};
    for (const TileChoice &choice : contraction.choices)
      if (!contraction.chosen || !(choice == *contraction.chosen))
        choices.emplace_back(choice);
    std::vector<Racer> racers;
    for (size_t i = 0; i < choices.size(); ++i) {
      Racer &racer = racers.emplace_back();
      if (std::optional<std::vector<uint8_t>> program =
              compiler::compileAlone(contraction, i == 0 ? nullptr : &*choices[i], compile_, racer.problem))
        racer.program = std::move(*program);
      else if (i == 0)
        return makeError(StatusCode::Internal, contraction.place,
                         ": the contraction does not compile alone: ", racer.problem);
      else
        racer.problem = concat("it does not compile: ", racer.problem);
    }
    Result<uint64_t> calls = race(device_, racers, race_);
    if (!calls.ok())
      return calls.takeStatus().withContext(contraction.place);
    report(contraction, choices, racers, *calls);
    return okStatus();
  }

  void report(const Contraction &contraction, const std::vector<std::optional<TileChoice>> &choices,
              const std::vector<Racer> &racers, uint64_t calls) {
    const size_t winner = winnerOf(racers);
    for (size_t i = 0; i < racers.size(); ++i) {
      const std::string text = choices[i] ? choices[i]->text() : "several kernels";
      if (!racers[i].problem.empty())
        std::printf("  %s: left out: %s\n", text.c_str(), racers[i].problem.c_str());
      else
        std::printf("  %12.1f us  %s%s%s\n", racers[i].nanoseconds / 1000, text.c_str(),
                    i == 0 ? "  chosen by the model" : "", i == winner ? "  *" : "");
      if (racers[i].isWrong) {
        isAllWell_ = false;
        std::fprintf(stderr, "%s: error: %s: %s computes something else than the model's choice: %s\n", kTool,
                     contraction.place.c_str(), text.c_str(), racers[i].problem.c_str());
      }
    }
    if (!choices[winner])
      return; // several kernels are the best: nothing is to be said
    entries_.push_back(entryOf(contraction, compile_.targets.front(), choices, racers, winner,
                               {device_->description(), race_.rounds, calls, race_.size}));
  }

  const compiler::CompileOptions compile_;
  const std::shared_ptr<runtime::Device> device_;
  RaceOptions race_;
  std::vector<TuningEntry> entries_;
  bool isAllWell_ = true;
};

Result<abi::TargetArch> targetOf(const Options &options, const runtime::Device *device) {
  if (options.target.empty())
    return compiler::bestTargetFor(device->traits().computeCapability);
  TENON_ASSIGN_OR_RETURN(const std::vector<abi::TargetArch> targets, linker::parseTargetList({options.target}));
  if (targets.size() != 1)
    return makeError(StatusCode::InvalidArgument, "--target is one architecture, not '", options.target, "'");
  return targets.front();
}

Result<int> run(const Options &options, Phases &phases) {
  TENON_ASSIGN_OR_RETURN(const uint64_t rounds, runtime::parseCount("rounds", options.rounds, 1));
  TENON_ASSIGN_OR_RETURN(const uint64_t size, runtime::parseCount("size", options.size, 0));
  TENON_ASSIGN_OR_RETURN(compiler::CompileOptions compile, compileOptions(options));
  std::vector<TuningEntry> known;
  std::shared_ptr<runtime::Device> device;
  if (!options.dryRun) {
    TENON_ASSIGN_OR_RETURN(known, readKnown(options.output));
    TENON_ASSIGN_OR_RETURN(runtime::cuda::DeviceSelector selector,
                           runtime::cuda::DeviceSelector::parse(options.device));
    TENON_ASSIGN_OR_RETURN(device, runtime::Device::open(selector, runtime::cuda::DriverSearch::fromEnvironment()));
    runtime::reportOnInterrupt(*device);
    if (device->isEmulator() && !options.emulatedTimes)
      return makeError(StatusCode::FailedPrecondition, "the device is ", device->description(),
                       ", and an emulator's time says nothing about a GPU: --dry-run lists what there is to measure");
  }
  TENON_ASSIGN_OR_RETURN(const abi::TargetArch target, targetOf(options, device.get()));
  compile.targets = {target};
  phases.begin("list");
  const std::optional<std::vector<Contraction>> contractions =
      compiler::listContractions(options.inputs.front(), compile);
  if (!contractions)
    return kExitFailure; // which was said
  if (options.dryRun) {
    for (const Contraction &contraction : *contractions)
      printCandidates(contraction);
    return 0;
  }
  phases.begin("race");
  Tuner tuner(std::move(compile), device);
  TENON_RETURN_IF_ERROR(tuner.run(*contractions, uint32_t(rounds), int64_t(size)));
  TENON_RETURN_IF_ERROR(writeFile(
      options.output, compiler::codegen::writeTuningFile(merged(std::move(known), std::move(tuner.entries())))));
  return tuner.isAllWell() ? 0 : kExitFailure;
}

} // namespace

int main(int argc, char **argv) {
  reportMissingMemory(kTool);
  reportLostBytes(kTool);
  compiler::bridge::reportLlvmErrors(kTool);
  Options options;
  Phases phases(kTool);
  CommandLine line = commandLine(options, phases);
  if (std::optional<int> status = line.parse(argc, argv))
    return *status;
  if (options.inputs.size() != 1)
    return line.usageError(options.inputs.empty() ? "no program given" : "more than one program given");
  if (options.dryRun && options.target.empty())
    return line.usageError("--dry-run asks no device: --target=ARCH says what to list");
  if (!options.dryRun && options.output.empty())
    return line.usageError("no output file: pass -o FILE, or --dry-run");
  Result<int> status = run(options, phases);
  return status.ok() ? finishOutput(kTool, *status) : reportFailure(kTool, status.status().message());
}
