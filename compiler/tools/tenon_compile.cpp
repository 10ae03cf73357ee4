// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-compile: MLIR text in, a program (.tenon) out. The work is in compiler/pipeline.cpp; here are the flags.
#include "abi/format/file_kind.h"
#include "abi/format/libraries.h"
#include "compiler/bridge/excerpts.h"
#include "compiler/bridge/llvm_errors.h"
#include "compiler/bridge/nesting.h"
#include "compiler/bridge/parse_module.h"
#include "compiler/input/parse_notes.h"
#include "compiler/pipeline.h"
#include "compiler/tools/native_target.h"
#include "linker/assembler/toolkit.h"
#include "linker/job/link_flags.h"
#include "linker/source/make_rule.h"
#include "support/files/file.h"
#include "support/files/file_bytes.h"
#include "support/memory.h"
#include "support/number.h"
#include "support/process/command_line.h"
#include "support/process/crash_report.h"
#include "support/process/large_stack.h"
#include "support/process/phases.h"
#include "support/process/terminal.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace mlir;

namespace {

constexpr char kTool[] = "tenon-compile";

struct Flags {
  std::vector<std::string> inputs, targets, devices, backends, parameters;
  tenon::linker::LinkFlags link;
  std::string output, depfile, tuning, cudaPath,
      fpContract = "on", f32Products = "exact", f32Convolutions = "direct", f8Sums = "f32", sumOrder = "fixed",
      attentionMemory = "4096", plans = "kinds", dumpTo, dumpSources, dumpBinaries, dumpKernels, command;
  bool fastMath = false, lineInfo = false, printIrAfterAll = false, printStatistics = false, printDispatches = false;
};

tenon::CommandLine commandLine(Flags &flags, tenon::Phases &phases) {
  tenon::CommandLine options(kTool, "INPUT.mlir [-o OUTPUT.tenon]",
                             "Compiles a module: links its hand-written kernels, generates the others, and writes one "
                             "program for every target.");
  options.text("o", "FILE", &flags.output,
               "write the program here ('-', and without -o where that is no terminal: standard output)");
  options.text(
      "depfile", "FILE", &flags.depfile,
      "write the files that were read here (the module, objects, CUDA sources and their headers), as a rule for "
      "Make or Ninja");
  flags.link.declare(options);
  options.list("target", "ARCH,..", &flags.targets,
               "architectures to compile for where the module names none; native: those of this machine's devices\n"
               "(default: sm_75,sm_80,sm_90a, which run everywhere: sm_80 as PTX on all that is later)");
  options.words(tenon::linker::targetNames(), true);
  options.alias("iree-cuda-target");
  options.phases(phases);
  options.list(
      "parameters", "SCOPE=FILE", &flags.parameters,
      "take #flow.parameter.named<\"SCOPE\"::..> from FILE, in the safetensors format; FILE alone: those without\n"
      "a scope; may be repeated");
  options.text("cuda-path", "DIR", &flags.cudaPath, "CUDA toolkit that holds libdevice (default: searched for)");
  options.text(
      "fp-contract", "on|off", &flags.fpContract,
      "on: fuse a product with the sum that alone takes it, where that only adds accuracy (default); off: never");
  options.text(
      "f32-products", "exact|tf32", &flags.f32Products,
      "exact: matrix products of f32 round nothing but sums (default); tf32: tensor cores multiply factors of 11\n"
      "bits, where the device has them (sm_80 and later)");
  options.text(
      "f32-convolutions", "direct|winograd", &flags.f32Convolutions,
      "direct: convolutions of f32 are sums of their products (default); winograd: windows of 3 x 3 and 5 x 5 in\n"
      "steps of one are computed in tiles, where a model says that this is faster: up to 100 times less exact (5 x 5:\n"
      "400), an infinity or a NaN spreads over its tile, and elements above a thirtieth of f32's range overflow");
  options.text(
      "f8-sums", "f32|narrow", &flags.f8Sums,
      "f32: of products of f8, tensor cores sum 128 at most on their own, with 13 bits (default); narrow: all,\n"
      "which is faster, and the longer the sum the less exact");
  options.text(
      "sum-order", "fixed|any", &flags.sumOrder,
      "fixed: the same bits from run to run (default); any: all gradients of attention are one kernel, mostly\n"
      "faster, whose blocks add to that by queries in the order they come, on sm_90a; else as 'fixed'");
  options.text("attention-memory", "MIB", &flags.attentionMemory,
               "memory that the gradients of one attention may take, so that its weights are not computed twice on\n"
               "sm_90a: two bytes for each pair of a query and a key (default: 4096; 0: none)");
  options.text(
      "plans", "kinds|one", &flags.plans,
      "kinds: products, convolutions and attention for sm_90a and other targets are planned for sm_90a by themselves\n"
      "(default); one: all targets have one plan, which compiles faster, and runs slower on sm_90a");
  options.text("tuning", "FILE", &flags.tuning,
               "compute contractions as FILE says, which tenon-tune writes (default: as a model predicts)");
  options.flag("fast-math", &flags.fastMath,
               "approximate division and functions, f32 denormals are zero: as nvcc's --use_fast_math");
  options.flag("line-info", &flags.lineInfo, "name lines of the module in generated PTX, for profilers and debuggers");
  options.list("iree-hal-target-device", "NAME", &flags.devices, "device to compile for: cuda");
  options.list("iree-hal-target-backends", "NAME", &flags.backends, "back end to compile with: cuda");
  options.text(
      "dump-to", "DIR", &flags.dumpTo,
      "write all there is to see into DIR: phases, the module behind each pass; kernels, their LLVM IR and PTX;\n"
      "executables, with registers, spills and occupancy, cubins and, with nvdisasm, SASS");
  options.flag("print-dispatches", &flags.printDispatches,
               "print which operations become one kernel, and why others do not; how contractions are computed, and\n"
               "who chose it");
  options.flag("print-statistics", &flags.printStatistics, "print what was compiled, and how long each phase took");
  options.text("dump-kernels-to", "DIR", &flags.dumpKernels, "write the generated PTX into DIR");
  options.alias("iree-hal-dump-executable-intermediates-to");
  options.text("iree-hal-dump-executable-sources-to", "DIR", &flags.dumpSources,
               "write the executables as MLIR into DIR");
  options.text("iree-hal-dump-executable-binaries-to", "DIR", &flags.dumpBinaries,
               "write the linked executables into DIR");
  options.flag("mlir-print-ir-after-all", &flags.printIrAfterAll, "print the module after every pass");
  options.positional(&flags.inputs);
  options.example("tenon-compile model.mlir --target=sm_80,sm_90a -o model.tenon", "a program for two architectures");
  options.example("tenon-compile example.mlir --object-search-path=build -o example.tenon",
                  "with the hand-written kernels that the module names, found in build");
  options.example("tenon-compile example.mlir --images=cubin -o example.tenon",
                  "finished code only: nothing is left to the driver's compiler");
  options.example("tenon-compile example.mlir --print-dispatches -o example.tenon",
                  "which operations became one kernel, and why others did not");
  options.example("tenon-compile example.mlir --dump-to=dump -o example.tenon",
                  "all there is to see: the module behind each pass, LLVM IR, PTX, SASS");
  options.versions([] {
    return tenon::concat(tenon::compiler::compilerVersions(), tenon::abi::libraryVersions(),
                         tenon::linker::toolkitVersions());
  });
  return options;
}

int fail(llvm::StringRef message) {
  return tenon::reportFailure(kTool, std::string_view(message.data(), message.size()));
}

/// Nothing but cuda can be compiled for.
tenon::Status checkDevices(const Flags &flags) {
  for (const auto *names : {&flags.devices, &flags.backends})
    for (const std::string &name : *names)
      if (name != "cuda")
        return tenon::makeError(tenon::StatusCode::Unimplemented, "cannot compile for '", name,
                                "', only 'cuda' is supported");
  return tenon::okStatus();
}

tenon::Result<tenon::compiler::CompileOptions> compileOptions(const Flags &flags) {
  TENON_RETURN_IF_ERROR(checkDevices(flags));
  tenon::compiler::CompileOptions options;
  TENON_ASSIGN_OR_RETURN(std::vector<std::string> targets, tenon::compiler::replaceNative(flags.targets));
  TENON_ASSIGN_OR_RETURN(options.targets, tenon::linker::parseTargetList(targets));
  options.objects.paths = flags.link.searchPaths;
  options.objects.inputFolder = llvm::sys::path::parent_path(flags.inputs.front()).str();
  TENON_RETURN_IF_ERROR(flags.link.applyTo(options.link));
  options.parameters = flags.parameters;
  options.cudaPath = flags.cudaPath;
  if (flags.fpContract != "on" && flags.fpContract != "off")
    return tenon::makeError(tenon::StatusCode::InvalidArgument, "--fp-contract is 'on' or 'off', not '",
                            flags.fpContract, "'");
  options.contractProducts = flags.fpContract == "on";
  if (flags.f32Products != "exact" && flags.f32Products != "tf32")
    return tenon::makeError(tenon::StatusCode::InvalidArgument, "--f32-products is 'exact' or 'tf32', not '",
                            flags.f32Products, "'");
  options.tf32Products = flags.f32Products == "tf32";
  if (flags.f32Convolutions != "direct" && flags.f32Convolutions != "winograd")
    return tenon::makeError(tenon::StatusCode::InvalidArgument, "--f32-convolutions is 'direct' or 'winograd', not '",
                            flags.f32Convolutions, "'");
  options.winograd = flags.f32Convolutions == "winograd";
  if (flags.f8Sums != "f32" && flags.f8Sums != "narrow")
    return tenon::makeError(tenon::StatusCode::InvalidArgument, "--f8-sums is 'f32' or 'narrow', not '", flags.f8Sums,
                            "'");
  options.narrowF8Sums = flags.f8Sums == "narrow";
  if (flags.sumOrder != "fixed" && flags.sumOrder != "any")
    return tenon::makeError(tenon::StatusCode::InvalidArgument, "--sum-order is 'fixed' or 'any', not '",
                            flags.sumOrder, "'");
  options.anySumOrder = flags.sumOrder == "any";
  const std::optional<uint32_t> mebibytes = tenon::parseNumber<uint32_t>(flags.attentionMemory);
  if (!mebibytes)
    return tenon::makeError(tenon::StatusCode::InvalidArgument, "--attention-memory is a number of MiB, as 1024, not '",
                            flags.attentionMemory, "'");
  options.attentionMemory = int64_t(*mebibytes) << 20;
  if (flags.plans != "kinds" && flags.plans != "one")
    return tenon::makeError(tenon::StatusCode::InvalidArgument, "--plans is 'kinds' or 'one', not '", flags.plans, "'");
  options.hasEditions = flags.plans == "kinds";
  options.tuning = flags.tuning;
  options.fastMath = flags.fastMath;
  options.printDispatches = flags.printDispatches;
  options.lineInfo = flags.lineInfo;
  options.printIrAfterAll = flags.printIrAfterAll;
  options.dumpTo = flags.dumpTo;
  options.dumpSources = flags.dumpSources;
  options.dumpKernels = flags.dumpKernels;
  options.dumpBinaries = flags.dumpBinaries;
  return options;
}

/// What is no MLIR would end in an error about its first character.
std::string explainMlirWanted(const std::string &text) {
  using tenon::abi::FileKind;
  std::string_view advice;
  switch (tenon::abi::detectFileKind(text)) {
  case FileKind::Mlir:
  case FileKind::MlirBytecode:
  case FileKind::Text:
  case FileKind::Unknown: // the parser says what it does not understand
    return {};
  case FileKind::Ptx:
  case FileKind::CudaSource:
  case FileKind::Cubin:
  case FileKind::Fatbin:
  case FileKind::HostObject:
  case FileKind::Archive:
    advice = "name it as an object of a hal.executable.source, or link it alone with tenon-link";
    break;
  case FileKind::Json:
    advice = "manifests are for tenon-link";
    break;
  case FileKind::Program:
  case FileKind::Executable:
    advice = "it is built already: tenon-run runs programs, tenon-dump shows what is in them";
    break;
  case FileKind::Packed:
    advice = "unpack it";
    break;
  case FileKind::OtherFormat:
  case FileKind::HostBinary:
  case FileKind::LtoIr:
  case FileKind::Bitcode:
  case FileKind::LlvmText:
  case FileKind::Npy:
  case FileKind::Empty:
    advice = "give the module that dispatches the kernels";
    break;
  }
  return tenon::concat("found ", tenon::abi::describeFile(text), ", MLIR text is wanted: ", advice);
}

int compile(const Flags &flags, const tenon::compiler::CompileOptions &options, tenon::Phases &phases) {
  phases.begin("compile");
  tenon::Result<std::string> text = tenon::readFile(flags.inputs.front());
  if (!text.ok())
    return fail(std::string(text.status().message()));
  if (std::string wrong = explainMlirWanted(*text); !wrong.empty())
    return fail("'" + flags.inputs.front() + "': " + wrong);
  const tenon::CrashReport crash(kTool, "// ", flags.command, *text);
  tenon::compiler::CompileReport report;
  llvm::SourceMgr sources;
  const std::string name = flags.inputs.front() == "-" ? "<stdin>" : flags.inputs.front();
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(*text, name), llvm::SMLoc());
  tenon::compiler::bridge::shortenExcerpts(sources);

  DialectRegistry registry;
  tenon::compiler::registerPipelineDialects(registry);
  // One thread: a program compiles in well under a second, and messages come in order.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // the place is enough
  // Attributes of dialects that nobody knows are read and kept; tenon-read-input refuses what else is not known.
  context.allowUnregisteredDialects();
  SourceMgrDiagnosticHandler handler(sources, &context);
  tenon::compiler::input::ParseNotes notes(&context);
  OwningOpRef<ModuleOp> module;
  tenon::CrashReport::setPhase("parse");
  {
    const tenon::compiler::CompileReport::Timer timer(report, "parse");
    module = tenon::compiler::bridge::parseModule(sources, context);
  }
  if (!module)
    return tenon::kExitFailure;
  FailureOr<tenon::compiler::CompiledProgram> program = tenon::compiler::compileModule(*module, options, report);
  std::vector<tenon::Phases::Phase> parts;
  for (const tenon::compiler::CompileReport::Phase &phase : report.phases())
    parts.push_back({phase.name, phase.seconds});
  phases.divide(std::move(parts));
  if (flags.printStatistics)
    llvm::errs() << report.text();
  if (failed(program))
    return tenon::kExitFailure;
  std::vector<std::string> &files = program->inputFiles;
  for (const std::string &parameter : flags.parameters)
    files.push_back(parameter.substr(parameter.find('=') + 1));
  if (!flags.tuning.empty())
    files.push_back(flags.tuning);
  if (flags.inputs.front() != "-")
    files.insert(files.begin(), flags.inputs.front());
  const std::string outputs[] = {flags.output, flags.depfile};
  if (tenon::Status distinct = tenon::checkOutputs(outputs, files); !distinct.ok())
    return fail(std::string(distinct.message()));
  std::string_view bytes(reinterpret_cast<const char *>(program->bytes.data()), program->bytes.size());
  if (tenon::Status written = tenon::writeFile(flags.output, bytes); !written.ok())
    return fail(std::string(written.message()));
  if (flags.depfile.empty())
    return 0;
  if (tenon::Status written = tenon::writeFile(flags.depfile, tenon::linker::writeMakeRule(flags.output, files));
      !written.ok())
    return fail(std::string(written.message()));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  tenon::reportMissingMemory(kTool);
  tenon::reportLostBytes(kTool);
  tenon::compiler::bridge::reportLlvmErrors(kTool);
  if (!tenon::takesColours(stderr))
    llvm::errs().enable_colors(false);
  Flags flags;
  tenon::Phases phases(kTool);
  tenon::CommandLine options = commandLine(flags, phases);
  if (std::optional<int> status = options.parse(argc, argv))
    return *status;
  if (flags.inputs.size() != 1)
    return options.usageError(flags.inputs.empty() ? "no input file" : "more than one input file");
  if (flags.output.empty() && isatty(STDOUT_FILENO))
    return options.usageError("no output file: pass -o FILE, or redirect standard output");
  if (flags.output.empty())
    flags.output = "-";
  if (!flags.depfile.empty() && flags.output == "-")
    return options.usageError("--depfile needs the output's name: -o FILE");
  tenon::Result<tenon::compiler::CompileOptions> parsed = compileOptions(flags);
  if (!parsed.ok())
    return fail(std::string(parsed.status().message()));
  for (int i = 0; i < argc; ++i)
    flags.command += tenon::concat(i ? " " : "", argv[i]);
  int status = tenon::kExitFailure;
  tenon::Status ran =
      tenon::runWithLargeStack(tenon::compiler::bridge::kStackBytes, [&] { status = compile(flags, *parsed, phases); });
  return ran.ok() ? status : fail(std::string(ran.message()));
}
