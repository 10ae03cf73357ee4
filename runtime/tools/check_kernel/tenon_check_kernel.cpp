// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-check-kernel: whether a kernel does what its declaration promises, as far as running it shows.
#include "runtime/tools/check_kernel/report.h"
#include "runtime/tools/common_options.h"
#include "runtime/tools/count_option.h"
#include "runtime/tools/interrupt.h"
#include "support/files/file.h"
#include "support/memory.h"
#include "support/number.h"
#include "support/process/command_line.h"
#include "support/process/phases.h"

#include <cstdio>
#include <cstdlib>

using namespace tenon;
using namespace tenon::runtime;

namespace {

constexpr const char *kDefaultTimeout = "60"; // seconds

struct Options {
  std::vector<std::string> files, sizes, bindings, constants, tolerances;
  std::string exportName, workload, grid, reference, variant, device, repeats = "3", seed = "1", timeout;
  bool json = false;
};

/// "f32=1e-3".
Result<Thresholds> parseTolerances(const std::vector<std::string> &texts) {
  Thresholds out;
  for (const std::string &text : texts) {
    const size_t equal = text.find('=');
    const std::string type = text.substr(0, equal);
    double *threshold = type == "f16"    ? &out.f16
                        : type == "bf16" ? &out.bf16
                        : type == "f32"  ? &out.f32
                        : type == "f64"  ? &out.f64
                                         : nullptr;
    const std::optional<double> value =
        equal == std::string::npos ? std::nullopt : parseDouble(std::string_view(text).substr(equal + 1));
    if (!threshold || !value || !(*value >= 0))
      return makeError(StatusCode::InvalidArgument, "--tolerance=", text,
                       ": expected TYPE=NUMBER, TYPE one of f16, bf16, f32 and f64");
    *threshold = *value;
  }
  return out;
}

/// What is to be checked: the lines of a file, or those of the command line.
Result<std::vector<Workload>> readWorkloads(const Options &options, const abi::ExecutableView &view) {
  Workload given;
  given.sizes = options.sizes;
  given.bindings = options.bindings;
  given.constants = options.constants;
  given.grid = options.grid;
  given.reference = options.reference;
  given.exportName = options.exportName;
  const bool hasLines = !given.sizes.empty() || !given.bindings.empty() || !given.constants.empty() ||
                        !given.grid.empty() || !given.reference.empty();
  if (options.workload.empty()) {
    if (given.exportName.empty() && view.exportCount() == 1)
      given.exportName = view.exportAt(0).name;
    if (given.exportName.empty())
      return makeError(StatusCode::InvalidArgument, "executable '", view.name(), "' has ", view.exportCount(),
                       " exports: name one with --export, or describe them in a file for --workload");
    return std::vector<Workload>{given};
  }
  if (hasLines)
    return makeError(StatusCode::InvalidArgument,
                     "--workload is given, and --size, --binding, --constant, --grid or --reference beside it");
  TENON_ASSIGN_OR_RETURN(std::string text, readFile(options.workload));
  TENON_ASSIGN_OR_RETURN(std::vector<Workload> workloads, parseWorkloads(text, options.workload));
  if (!options.exportName.empty())
    std::erase_if(workloads, [&](const Workload &workload) { return workload.exportName != options.exportName; });
  if (workloads.empty())
    return makeError(StatusCode::InvalidArgument, "'", options.workload, "' describes ",
                     options.exportName.empty() ? std::string("no export")
                                                : concat("no export '", options.exportName, "'"));
  return workloads;
}

bool hasGenerated(const abi::ExecutableView &view, uint32_t ordinal, const abi::DeviceTraits &traits) {
  for (const abi::Candidate &candidate : view.candidates(ordinal))
    if (candidate.origin == abi::Origin::Generated) {
      const abi::Verdict verdict = candidate.kind == abi::ImageKind::Ptx
                                       ? abi::runsPtx(candidate.arch, candidate.isa, traits)
                                       : abi::runsCubin(candidate.arch, traits);
      if (verdict.runs && (candidate.kind == abi::ImageKind::Ptx || traits.acceptsCubin))
        return true;
    }
  return false;
}

Result<ExportReport> check(const Options &options, Session &session, const Workload &workload,
                           const ReferenceContext &file, const CheckOptions &checks, uint64_t seed) {
  const abi::ExecutableView &view = session.executable().view();
  TENON_ASSIGN_OR_RETURN(uint32_t ordinal, view.findExport(workload.exportName));
  const abi::Export declared = view.exportAt(ordinal); // the session may be opened again
  Result<std::vector<Case>> cases = makeCases(workload, declared, seed);
  if (!cases.ok())
    return cases.takeStatus().withContext(concat("export '", declared.name, "'"));

  ReferenceContext context = file;
  context.declared = &declared;
  std::unique_ptr<Reference> reference, fallback;
  if (!workload.reference.empty()) {
    TENON_ASSIGN_OR_RETURN(reference, makeReference(workload.reference, context));
  }
  TENON_ASSIGN_OR_RETURN(const LoadedExport *kernel, session.load(ordinal));
  ExportReport report;
  report.name = declared.name;
  report.variant = kernel->variantName;
  report.symbol = kernel->symbol;
  report.device = session.device().description();
  report.cases = cases->size();
  bool isGenerated = false;
  for (const abi::Candidate &candidate : view.candidates(ordinal))
    isGenerated |= candidate.variantName == kernel->variantName && candidate.origin == abi::Origin::Generated;
  if (!isGenerated && hasGenerated(view, ordinal, session.device().traits())) {
    TENON_ASSIGN_OR_RETURN(fallback, makeReference("generated", context));
  }
  KernelChecks runner(session, declared, reference.get(), fallback.get(), checks);
  for (const Case &one : *cases) {
    if (isInterrupted())
      break;
    for (Finding &finding : runner.run(one))
      report.findings.push_back(std::move(finding));
  }
  return report;
}

Result<int> run(const Options &options, Phases &phases) {
  const std::string &path = options.files.front();
  CheckOptions checks;
  TENON_ASSIGN_OR_RETURN(uint64_t repeats, parseCount("repeats", options.repeats, 1));
  checks.repeats = uint32_t(std::min<uint64_t>(repeats, UINT32_MAX));
  TENON_ASSIGN_OR_RETURN(uint64_t seed, parseCount("seed", options.seed, 0));
  TENON_ASSIGN_OR_RETURN(checks.thresholds, parseTolerances(options.tolerances));
  SessionOptions session;
  TENON_ASSIGN_OR_RETURN(session.device, cuda::DeviceSelector::parse(options.device));
  TENON_ASSIGN_OR_RETURN(session.executable, ExecutableOptions::fromEnvironment());
  session.executable.variant = options.variant;

  TENON_ASSIGN_OR_RETURN(std::string text, readFile(path));
  if (text.size() > 8 && text.compare(4, 4, "TNP1") == 0)
    return makeError(
        StatusCode::InvalidArgument, "'", path,
        "' is a program: give the executable (.tnx) that tenon-link writes, and the program as --reference");
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  // What the emulator can see besides, unless the user says what to look for.
  setenv("TENON_EMULATOR_CHECK", "races,uninitialised,barriers", 0);
  // A kernel that never ends is a finding like others.
  if (!options.timeout.empty()) {
    const std::optional<double> seconds = parseDouble(options.timeout);
    if (!seconds || *seconds < 0 || *seconds > 1e9)
      return makeError(StatusCode::InvalidArgument, "--timeout=", options.timeout,
                       " is not understood; wanted seconds from 0 (any time) to 1000000000");
  }
  setenv("TENON_EMULATOR_TIMEOUT", options.timeout.empty() ? kDefaultTimeout : options.timeout.c_str(),
         /*overwrite=*/!options.timeout.empty());
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> open, Session::open(bytes, path, session));
  if (const std::string &notice = open->device().driver().notice(); !notice.empty())
    std::fprintf(stderr, "tenon-check-kernel: %s\n", notice.c_str());
  TENON_ASSIGN_OR_RETURN(std::vector<Workload> workloads, readWorkloads(options, open->executable().view()));

  const ReferenceContext context = {bytes, path, session, nullptr};
  std::vector<ExportReport> reports;
  for (const Workload &workload : workloads) {
    if (isInterrupted())
      break;
    phases.begin(workload.exportName.empty() ? "check" : concat("check ", workload.exportName));
    TENON_ASSIGN_OR_RETURN(ExportReport report, check(options, *open, workload, context, checks, seed));
    if (!options.json) {
      std::fputs(tableOf(report).c_str(), stdout);
      std::fflush(stdout);
    }
    reports.push_back(std::move(report));
  }
  if (options.json)
    std::fputs(jsonOf(reports).c_str(), stdout);
  for (const ExportReport &report : reports)
    if (report.hasFailed())
      return kExitFailure;
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  reportMissingMemory("tenon-check-kernel");
  // One case's fault must not end the others, as it does on a GPU.
  setenv("TENON_EMULATOR_FAULTS", "context", /*overwrite=*/0);
  Options options;
  CommandLine commandLine("tenon-check-kernel", "FILE.tnx --export=NAME --binding=SPEC... [--constant=VALUE...]",
                          "Runs kernels and checks that they keep what their declarations promise: nothing written\n"
                          "outside of bindings or in read-only ones, no more alignment than declared, every output\n"
                          "written, the same result every time.");
  commandLine.positional(&options.files);
  commandLine.text("export", "NAME", &options.exportName, "the export to check; may be left out when there is one");
  commandLine.list("binding", "SPEC", &options.bindings,
                   "nxf32, 8x(2*n)xi32=0, inout nxf32=LOW..HIGH, partial nxf32, nxf32=@f.npy; one per binding");
  commandLine.list("constant", "VALUE", &options.constants,
                   "n, 2.5, i32=n, (i64=n, f32=2), bytes:00ff; one per constant but described tensor maps");
  commandLine.list("size", "NAME=VALUES", &options.sizes,
                   "values to try: n=1,31,32; left out: around the workgroup size, odd ones among them");
  commandLine.text("grid", "X,Y,Z", &options.grid,
                   "workgroup counts: ceildiv(n,128); left out: a thread per element of the first output");
  commandLine.text("workload", "FILE", &options.workload,
                   "these options as lines for each export: [NAME], then size = ..., binding = ...");
  commandLine.text("reference", "WHERE", &options.reference,
                   "compare with: export NAME, FILE.tnx:EXPORT, FILE.tenon:FUNCTION(b0, c0), @out.npy, generated");
  commandLine.list("tolerance", "TYPE=X", &options.tolerances, "of f16, bf16, f32, f64 against a reference");
  commandLine.text("variant", "NAME", &options.variant, "this variant; left out: the best one for the device");
  commandLine.text("repeats", "N", &options.repeats, "runs that must agree to the bit (3)");
  commandLine.text("seed", "N", &options.seed, "of random contents (1)");
  commandLine.text("timeout", "SECONDS", &options.timeout,
                   "how long a launch on the emulator may take (60, or TENON_EMULATOR_TIMEOUT); 0: any time");
  declareDevice(commandLine, &options.device);
  commandLine.flag("json", &options.json, "print findings as JSON");
  Phases phases("tenon-check-kernel");
  commandLine.phases(phases);
  commandLine.example("tenon-check-kernel kernels.tnx --export=saxpy --binding=nxf32 --binding='inout nxf32' "
                      "--constant=2.5 --constant=n",
                      "at sizes around the workgroup size");
  commandLine.example("tenon-check-kernel kernels.tnx --workload=kernels.workload --device=emulator",
                      "every export of a file, without a GPU");
  commandLine.exitStatus(0, "every check passed");
  commandLine.exitStatus(1, "a check failed, or the work failed");
  if (std::optional<int> status = commandLine.parse(argc, argv))
    return *status;
  if (options.files.size() != 1)
    return commandLine.usageError(options.files.empty() ? "no executable given" : "more than one executable given");
  phases.begin("open the device");
  Result<int> status = run(options, phases);
  if (status.ok())
    return finishOutput("tenon-check-kernel", *status);
  return reportFailure("tenon-check-kernel", status.status().message());
}
