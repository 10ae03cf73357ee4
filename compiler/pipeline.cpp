// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler, as its table of contents. compileModule() takes a module through these steps, in this order:
//
//   parameters       tensors of parameter files                               input
//   read input       what other compilers write becomes MLIR's own            input
//   read TOSA        where there is any, it becomes linalg                    input
//   lower tensors    what makes and moves tensors becomes linalg.generic      input
//   lower math       functions that no kernel has become arithmetic           input
//   lower types      elements of f8, i4, index, complex become integers       input
//   normalise        every way to declare a kernel becomes one                dialect/transforms
//   verify           public functions take and return what a program holds    host
//   inline           calls of private functions become their bodies           host
//   branch           loops and conditions become blocks and branches          host
//   form fallbacks   functions that stand in for hand-written kernels         dispatch
//                    what follows up to `choose` once for each kind of target: editions
//   find attention   in any of its forms, it becomes one                      dispatch/attention
//   align products   large ones read copies of unaligned operands             dispatch
//   form dispatches  tensor code becomes dispatches of generated executables  dispatch
//   write in place   results take the memory of operands nobody reads again    dispatch/in_place
//   choose           each kernel gets a strategy, each launch its blocks       codegen
//   generate         kernel functions become PTX, once for each target        codegen
//   link             every object is proved against its declaration           bridge, linker
//   lower            functions become commands, registers and checks          host
//   write            one FlatBuffer, verified as a loader would               host/program
//
// The first seventeen are passes: tenon-opt runs each alone, and its Passes.td shows the module before and after it.
#include "compiler/pipeline.h"

#include "compiler/bridge/dump.h"
#include "compiler/bridge/link_executables.h"
#include "compiler/codegen/generate_kernels.h"
#include "compiler/dialect/Dialects.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/transforms/Passes.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/editions/edition_notes.h"
#include "compiler/editions/merge_editions.h"
#include "compiler/error_watch.h"
#include "compiler/host/Passes.h"
#include "compiler/host/module_lowering.h"
#include "compiler/host/program/program_writer.h"
#include "compiler/input/Passes.h"
#include "linker/assembler/find_program.h"
#include "support/process/crash_report.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Config/llvm-config.h"

#include <set>

using namespace mlir;

namespace tenon::compiler {
namespace {

/// A folder in that of --dump-to; empty where there is none.
std::string folderIn(const std::string &dumpTo, std::string_view name) {
  return dumpTo.empty() ? std::string() : concat(dumpTo, "/", name);
}

/// Measures each pass, names it to whoever reports a crash, and writes the module behind it to a folder, where one is
/// given.
class PhaseObserver : public PassInstrumentation {
public:
  /// @param kind what is behind the names of phases
  PhaseObserver(CompileReport &report, std::string folder, std::string kind)
      : report_(report), folder_(std::move(folder)), kind_(std::move(kind)) {}

  void runBeforePass(Pass *pass, Operation *) override {
    begun_.push_back(std::chrono::steady_clock::now());
    if (begun_.size() == 1)
      CrashReport::setPhase(pass->getArgument());
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!end(pass) || folder_.empty())
      return;
    Status written = bridge::dumpPhase(cast<ModuleOp>(op), report_.phases().size(), pass->getArgument(), folder_);
    if (!written.ok())
      op->emitWarning() << std::string(written.message());
  }
  void runAfterPassFailed(Pass *pass, Operation *) override { end(pass); }

private:
  /// Whether it is one of the pipeline, and not one that a pass runs.
  bool end(Pass *pass) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun_.back();
    begun_.pop_back();
    if (!begun_.empty())
      return false;
    report_.addPhase(pass->getArgument().str() + kind_, taken.count());
    return true;
  }

  CompileReport &report_;
  std::string folder_, kind_;
  std::vector<std::chrono::steady_clock::time_point> begun_;
};

LogicalResult runPasses(ModuleOp module, const CompileOptions &options, CompileReport &report,
                        function_ref<void(PassManager &)> add, const std::string &kind = "") {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  if (options.printIrAfterAll)
    manager.enableIRPrinting([](Pass *, Operation *) { return false; }, [](Pass *, Operation *) { return true; });
  manager.addInstrumentation(std::make_unique<PhaseObserver>(report, folderIn(options.dumpTo, "phases"), kind));
  add(manager);
  return manager.run(module);
}

/// Reports a Status of the layers below MLIR at the module, the one place that a whole program has.
LogicalResult emitStatus(ModuleOp module, const Status &status) {
  if (status.ok())
    return success();
  return module.emitError() << std::string(status.message());
}

/// Writes intermediate results into `folder`, where one is given.
LogicalResult dump(ModuleOp module, const std::string &folder, function_ref<Status(const std::string &)> write) {
  return folder.empty() ? success() : emitStatus(module, write(folder));
}

/// --target, as tenon-normalize-executables takes it.
NormalizeExecutablesOptions targetOptions(ModuleOp module, const CompileOptions &options) {
  // Who says the same in both places means it.
  std::set<std::string> named, given;
  for (hal::ExecutableTargetAttr target : targetsOf(module))
    if (FailureOr<abi::TargetArch> arch = targetArchOf(target); succeeded(arch))
      named.insert(arch->toString());
  for (abi::TargetArch arch : options.targets)
    given.insert(arch.toString());
  if (!given.empty() && !named.empty() && given != named)
    module.emitWarning() << "--target has no effect: the module names its targets";
  NormalizeExecutablesOptions result;
  for (abi::TargetArch arch : options.targets)
    result.targets.push_back(arch.toString());
  return result;
}

/// A phase that is no pass.
void measure(CompileReport &report, const char *name, function_ref<void()> work) {
  CrashReport::setPhase(name);
  const CompileReport::Timer timer(report, name);
  work();
}

/// Executables, what is known of their kernels, and machine code.
Status dumpLinked(const bridge::LinkedModule &linked, const std::string &folder) {
  TENON_RETURN_IF_ERROR(bridge::dumpBinaries(linked, folder));
  TENON_RETURN_IF_ERROR(bridge::dumpMaps(linked, folder));
  const Result<std::string> nvdisasm = linker::findCudaProgram("nvdisasm", "");
  return bridge::dumpMachineCode(linked, nvdisasm.ok() ? *nvdisasm : std::string(), folder);
}

/// From a module to tensor code in MLIR's own dialects, beside kernels that are declared.
void addReading(PassManager &manager, ModuleOp module, const CompileOptions &options) {
  // Parameters become what the files hold that were given for them.
  manager.addPass(input::createReadParameters({.files = llvm::to_vector(options.parameters)}));
  // Functions, globals and constants of other compilers become MLIR's own; names that nobody knows are reported.
  manager.addPass(input::createReadInput());
  // What front ends write in TOSA becomes linalg.
  if (input::hasTosa(module))
    manager.addPass(input::createReadTosa());
  // Operations that make and move tensors become linalg.generic, which kernels are made of.
  manager.addPass(input::createLowerTensors());
  // Functions of math that no kernel has become arithmetic.
  manager.addPass(input::createLowerMath());
  // Elements of types that kernels do not hold lie in memory as such that they do.
  manager.addPass(input::createLowerTypes());
  // Every way to declare a kernel becomes one: hal.executable.source, with objects for each target.
  manager.addPass(createNormalizeExecutables(targetOptions(module, options)));
  // Types that no program can hold are refused before anything is generated or linked.
  manager.addPass(host::createVerifySignatures());
  // Calls of private functions become their bodies.
  manager.addPass(host::createInlineCalls());
  // Loops and conditions of host functions become blocks, so that the rest looks at blocks only.
  manager.addPass(host::createLowerControlFlow());
  // Functions that stand in for a hand-written kernel become kernels of its ABI beside it.
  manager.addPass(dispatch::createFormFallbacks());
}

/// From there to kernel functions with strategies.
/// @param found where it is given: the contractions among them
void addPlanning(PassManager &manager, const CompileOptions &options,
                 std::vector<codegen::TunableContraction> *found = nullptr) {
  // Attention in any of its forms becomes one form.
  dispatch::FindAttentionOptions attention{.print = options.printDispatches, .anyOrder = options.anySumOrder};
  if (options.attentionMemory)
    attention.mostKept = *options.attentionMemory;
  manager.addPass(dispatch::createFindAttention(attention));
  // Operands of large matrix products whose rows are not aligned are copied once.
  manager.addPass(dispatch::createAlignProducts(
      {.tf32 = options.tf32Products, .winograd = options.winograd, .print = options.printDispatches}));
  // Tensor code becomes dispatches of executables that hold it as kernel functions.
  manager.addPass(dispatch::createFormDispatches({.print = options.printDispatches}));
  // Results take the memory of what they are computed from, where nobody can tell.
  manager.addPass(dispatch::createWriteInPlace({.print = options.printDispatches}));
  // Each kernel gets a strategy, which says how many blocks a launch takes.
  manager.addPass(codegen::createListingChooseStrategies({.tf32 = options.tf32Products,
                                                          .narrowSums = options.narrowF8Sums,
                                                          .tuning = options.tuning,
                                                          .print = options.printDispatches},
                                                         found));
}

LogicalResult plan(ModuleOp module, const CompileOptions &options, CompileReport &report, const std::string &kind) {
  return runPasses(module, options, report, [&](PassManager &manager) { addPlanning(manager, options); }, kind);
}

/// Plans the module once for each kind of its targets.
LogicalResult planEditions(ModuleOp module, const CompileOptions &options, CompileReport &report) {
  const auto kinds = editions::kindsOf(module);
  if (kinds.size() == 1 || !options.hasEditions)
    return plan(module, options, report, "");
  const Attribute devices = module->getAttr("hal.device.targets");
  std::vector<editions::Planned> others;
  for (const editions::TargetKind &kind : llvm::drop_begin(kinds)) {
    others.push_back({kind, module.clone()});
    editions::restrictTo(*others.back().module, kind);
  }
  editions::restrictTo(module, kinds.front());
  editions::EditionNotes notes(module.getContext());
  if (failed(plan(module, options, report, "")))
    return failure();
  for (editions::Planned &each : others) {
    notes.begin(editions::nameOf(each.kind));
    if (failed(plan(*each.module, options, report, " (" + editions::nameOf(each.kind) + ")")))
      return failure();
  }
  LogicalResult merged = failure();
  measure(report, "merge", [&] { merged = editions::mergeEditions(module, kinds.front(), others, devices); });
  return merged;
}

/// All steps, in their order.
FailureOr<CompiledProgram> compileSteps(ModuleOp module, const CompileOptions &options, CompileReport &report) {
  LogicalResult read =
      runPasses(module, options, report, [&](PassManager &manager) { addReading(manager, module, options); });
  if (failed(read) || failed(planEditions(module, options, report)) ||
      failed(dump(module, options.dumpSources,
                  [&](const std::string &folder) { return bridge::dumpSources(module, folder); })))
    return failure();

  LogicalResult generated = runPasses(module, options, report, [&](PassManager &manager) {
    // Kernel functions become PTX, once for each target.
    manager.addPass(codegen::createCountingGenerateKernels({.cudaPath = options.cudaPath,
                                                            .contract = options.contractProducts,
                                                            .fastMath = options.fastMath,
                                                            .lineInfo = options.lineInfo,
                                                            .dumpFolder = folderIn(options.dumpTo, "kernels"),
                                                            .cacheFolder = options.link.sources.cache(),
                                                            .jobs = options.link.jobs},
                                                           &report.generation()));
  });
  for (const std::string &folder : {options.dumpKernels, folderIn(options.dumpTo, "kernels")})
    if (failed(generated) ||
        failed(dump(module, folder, [&](const std::string &folder) { return bridge::dumpKernels(module, folder); })))
      return failure();

  // The linker proves every object against its declaration and makes the executables.
  FailureOr<bridge::LinkedModule> linked = failure();
  measure(report, "link", [&] {
    linked = bridge::linkExecutables(
        module, options.objects,
        {.cudaPath = options.cudaPath, .contractProducts = options.contractProducts, .fastMath = options.fastMath},
        options.link);
  });
  if (failed(linked) ||
      failed(dump(module, options.dumpBinaries,
                  [&](const std::string &folder) { return bridge::dumpBinaries(*linked, folder); })) ||
      failed(dump(module, folderIn(options.dumpTo, "executables"),
                  [&](const std::string &folder) { return dumpLinked(*linked, folder); })))
    return failure();

  // Functions become commands, registers and checks; tensors become buffers.
  FailureOr<host::Program> program = failure();
  measure(report, "lower", [&] { program = host::lowerModule(module, linked->table, std::move(linked->executables)); });
  if (failed(program))
    return failure();

  // One FlatBuffer, verified as a loader would.
  Result<std::vector<uint8_t>> bytes = makeError(StatusCode::Internal, "");
  measure(report, "write", [&] { bytes = host::writeProgram(*program); });
  if (failed(emitStatus(module, bytes.status())))
    return failure();
  report.count(*program, bytes->size());
  return CompiledProgram{bytes.take(), std::move(linked->inputFiles)};
}

} // namespace

void registerPipelineDialects(DialectRegistry &registry) {
  registerDialects(registry);
}

std::string compilerVersions() {
  return concat("LLVM and MLIR ", LLVM_VERSION_STRING, "\n");
}

FailureOr<CompiledProgram> compileModule(ModuleOp module, const CompileOptions &options, CompileReport &report) {
  ErrorWatch watch(module);
  FailureOr<CompiledProgram> program = compileSteps(module, options, report);
  if (failed(program))
    return watch.fail(report);
  return program;
}

FailureOr<std::vector<codegen::TunableContraction>> findContractions(ModuleOp module, const CompileOptions &options) {
  std::vector<codegen::TunableContraction> found;
  CompileReport report;
  if (failed(runPasses(module, options, report, [&](PassManager &manager) {
        addReading(manager, module, options);
        addPlanning(manager, options, &found);
      })))
    return failure();
  return found;
}

} // namespace tenon::compiler
