// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-generate-kernels (Passes.td): the kernel functions of each executable, lowered once and printed per target.
//
// Modules that print alike, but for the names of their kernels, are generated once: each kernel is called by a number
// while it is generated, and each executable gets the PTX with its own names. Where many modules differ in the sizes of
// their tensors alone, those that are of one structure are generated once, too, with names for the numbers that differ
// (families). What the cache has is not generated at all. LLVM's part runs side by side (PtxJob); MLIR's stays on this
// thread, whose context it is.
#include "compiler/codegen/generate_kernels.h"

#include "abi/arch_table.h"
#include "compiler/codegen/decisions/targets.h"
#include "compiler/codegen/families/alike.h"
#include "compiler/codegen/families/find_families.h"
#include "compiler/codegen/families/numbered_kernels.h"
#include "compiler/codegen/kernel_unit.h"
#include "compiler/codegen/lowered_kernels.h"
#include "compiler/codegen/written_kernels.h"
#include "compiler/dialect/editions.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "support/files/file.h"
#include "support/process/job_pool.h"
#include "support/sha256.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace tenon::compiler::codegen {

#define GEN_PASS_DEF_GENERATEKERNELS
#include "compiler/codegen/Passes.h.inc"

namespace {

hal::ExecutableObjectAttr objectOf(MLIRContext *context, const std::string &name, StringRef bytes) {
  auto type = VectorType::get(int64_t(bytes.size()), IntegerType::get(context, 8));
  auto data = DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(bytes.data(), bytes.size()));
  return hal::ExecutableObjectAttr::get(context, StringAttr::get(context, "<generated>/" + name + ".ptx"), data);
}

/// An executable that gets objects, once they are generated.
struct Request {
  hal::ExecutableSourceOp source;
  ModuleOp module;
  bool isFallback;
  std::vector<std::string> names; // [placeholders]
  KernelUnit *unit;
};

struct GenerateKernels : impl::GenerateKernelsBase<GenerateKernels> {
  using GenerateKernelsBase::GenerateKernelsBase;
  GenerateKernels(GenerateKernelsOptions options, GenerationCounts *counts)
      : GenerateKernelsBase(std::move(options)), counts_(counts) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<hal::HalDialect, func::FuncDialect, linalg::LinalgDialect>();
    registerKernelDialects(registry);
  }

  void runOnOperation() override {
    FailureOr<SmallVector<Target>> targets = findTargets(getOperation());
    if (failed(targets))
      return signalPassFailure();
    // Those that are for the same targets together.
    llvm::MapVector<Attribute, std::vector<hal::ExecutableSourceOp>> sources;
    for (auto source : getOperation().getOps<hal::ExecutableSourceOp>())
      if (!source.getBody().front().getOps<ModuleOp>().empty())
        sources[source->getAttr(kSomeTargetsAttr)].push_back(source);
    for (auto &[some, ofTargets] : sources) {
      auto isOne = [some = dyn_cast_or_null<ArrayAttr>(some)](const Target &target) {
        return !some || llvm::is_contained(some, target.key);
      };
      if (failed(generate(ofTargets, llvm::filter_to_vector(*targets, isOne))))
        return signalPassFailure();
    }
  }

private:
  LogicalResult generate(ArrayRef<hal::ExecutableSourceOp> sources, ArrayRef<Target> targets) {
    // What was kept has no LLVM IR.
    KernelCache cache(dumpFolder.empty() ? StringRef(cacheFolder) : StringRef(), optionsText(), cudaPath);
    std::vector<Request> requests;
    std::vector<std::unique_ptr<KernelUnit>> units;
    bool ok = true;
    {
      std::vector<std::unique_ptr<NumberedKernels>> numbered;
      ok &= succeeded(readUnits(sources, targets.size(), requests, units, numbered));
      JobPool pool(jobs, kLargeStackBytes);
      ok &= succeeded(beginAll(units, targets, cache, pool));
    }
    for (std::unique_ptr<KernelUnit> &unit : units)
      ok &= succeeded(unit->finish(targets, cache));
    cache.finish();
    if (!ok)
      return failure();
    if (counts_)
      count(requests, units);
    for (const Request &request : requests)
      if (failed(dumpLlvmIr(request, targets)))
        return failure();
    for (const Request &request : requests)
      attach(request, targets);
    return success();
  }

  /// The modules of all executables, each once. @param numbered their kernels, until they are generated
  LogicalResult readUnits(ArrayRef<hal::ExecutableSourceOp> sources, size_t targets, std::vector<Request> &requests,
                          std::vector<std::unique_ptr<KernelUnit>> &units,
                          std::vector<std::unique_ptr<NumberedKernels>> &numbered) {
    llvm::StringMap<KernelUnit *> known; // by text
    bool ok = true;
    for (hal::ExecutableSourceOp source : sources) {
      FailureOr<Request> request = readRequest(source);
      if (failed(request)) {
        ok = false;
        continue;
      }
      numbered.push_back(std::make_unique<NumberedKernels>(request->module));
      request->names = numbered.back()->names();
      std::string text = KernelUnit::textOf(request->module, lineInfo);
      KernelUnit *&unit = text.empty() ? request->unit : known[text];
      if (!unit) {
        units.push_back(std::make_unique<KernelUnit>());
        unit = units.back().get();
        unit->module = request->module;
        unit->text = std::move(text);
        unit->images.resize(targets); // they point at each other
      }
      request->unit = unit;
      requests.push_back(std::move(*request));
    }
    return success(ok);
  }

  /// Asks the cache, and has the pool make what it has not.
  LogicalResult beginAll(std::vector<std::unique_ptr<KernelUnit>> &units, ArrayRef<Target> targets,
                         const KernelCache &cache, JobPool &pool) {
    std::vector<std::vector<KernelUnit *>> groups;
    for (const std::vector<size_t> &group : groupsOfAlike(llvm::map_to_vector(
             units, [&](const auto &unit) { return lineInfo ? StringRef() : StringRef(unit->text); }))) {
      Sha256 all; // of the targets as well: what one family is made of may be told apart by any of them
      for (const Target &target : targets)
        all.addField(target.arch.toString());
      for (size_t number : group)
        all.addField(units[number]->text);
      const std::string name = all.hex();
      std::vector<KernelUnit *> &members = groups.emplace_back();
      for (size_t number : group) {
        members.push_back(units[number].get());
        members.back()->alike = name;
      }
    }
    for (std::unique_ptr<KernelUnit> &unit : units)
      unit->find(targets, cache);
    bool ok = true;
    std::vector<std::unique_ptr<KernelUnit>> families;
    for (const std::vector<KernelUnit *> &members : groups)
      if (!llvm::all_of(members, [](const KernelUnit *unit) { return unit->isCached(); }))
        ok &= succeeded(beginFamilies(members, targets, families, pool));
    for (std::unique_ptr<KernelUnit> &unit : units)
      if (ok && !unit->isCached()) {
        LoweredKernels lowered(unit->module, ptxOptions());
        const llvm::SmallBitVector all(unsigned(targets.size()), true);
        ok &= succeeded(begin(*unit, lowered, targets, all, pool)); // one that is like it reports its own errors
      }
    // What others are made of is finished first.
    units.insert(units.begin(), std::make_move_iterator(families.begin()), std::make_move_iterator(families.end()));
    return success(ok);
  }

  /// Makes those together that are of one structure, as they are written for one target or another.
  LogicalResult beginFamilies(ArrayRef<KernelUnit *> units, ArrayRef<Target> targets,
                              std::vector<std::unique_ptr<KernelUnit>> &made, JobPool &pool) {
    const KernelsWriter writer{kernelVariantFor, [&](ModuleOp kernels, const abi::TargetArch &arch) {
                                 return writeKernels(kernels, arch, ptxOptions());
                               }};
    FailureOr<FoundFamilies> found =
        findFamilies(llvm::map_to_vector(units, [](const KernelUnit *unit) { return unit->module; }),
                     llvm::map_to_vector(targets, [](const Target &target) { return target.arch; }), writer);
    if (failed(found))
      return failure();
    std::vector<KernelUnit *> unitOf(found->families.size(),
                                     nullptr); // [families] none: its members are made as if alone
    for (auto [each, unit] : llvm::zip_equal(found->families, unitOf)) {
      if (each->family.size() < kLeastOfFamily)
        continue;
      each->family.nameNumbers();
      made.push_back(std::make_unique<KernelUnit>());
      unit = made.back().get();
      unit->images.resize(targets.size());
      LoweredKernels lowered([&](const abi::TargetArch &) { return each->family.written(); }, ptxOptions());
      if (failed(begin(*unit, lowered, targets, each->targets, pool)))
        return failure();
    }
    for (const FoundFamilies::Place &place : found->places)
      if (KernelUnit *unit = unitOf[place.family]) {
        KernelUnit::Image &image = units[place.module]->images[place.target];
        image.named = &unit->images[place.target];
        image.numbers = found->families[place.family]->family.numbersOf(place.member);
      }
    return success();
  }

  /// Every option that may decide about code: all but where it is kept and who does the work.
  std::string optionsText() {
    const std::string cache = cacheFolder, dump = dumpFolder;
    const unsigned threads = jobs;
    cacheFolder = "";
    dumpFolder = "";
    jobs = 0;
    std::string text;
    llvm::raw_string_ostream stream(text);
    printAsTextualPipeline(stream);
    cacheFolder = cache;
    dumpFolder = dump;
    jobs = threads;
    return text;
  }

  PtxOptions ptxOptions() const {
    return {.cudaPath = cudaPath,
            .contractProducts = contract,
            .fastMath = fastMath,
            .lineInfo = lineInfo,
            .keepLlvmIr = !dumpFolder.empty(),
            .waitsForEarlierLaunches = true};
  }

  FailureOr<Request> readRequest(hal::ExecutableSourceOp source) {
    auto modules = llvm::to_vector(source.getBody().front().getOps<ModuleOp>());
    if (modules.size() > 1)
      return modules[1].emitError() << "a source of device code may hold one module";
    const bool isFallback = modules.front()->hasAttr(kFallbackAttr);
    if (source.getObjectsAttr() && !isFallback)
      return source.emitError() << "'" << source.getSymName()
                                << "' has both objects and a module of device code, which is not supported";
    return Request{.source = source, .module = modules.front(), .isFallback = isFallback, .names = {}, .unit = nullptr};
  }

  /// Has the pool make what the cache has not, and no family makes. @param wanted [targets]
  LogicalResult begin(KernelUnit &unit, LoweredKernels &lowered, ArrayRef<Target> targets,
                      const llvm::SmallBitVector &wanted, JobPool &pool) {
    SmallVector<size_t> older;
    for (size_t number : oldestFirst(targets)) {
      KernelUnit::Image &image = unit.images[number];
      const abi::TargetArch arch = targets[number].arch;
      if (!wanted[unsigned(number)] || image.named)
        continue;
      if (image.isCached) {
        older.push_back(number);
        continue;
      }
      FailureOr<ModuleOp> kernels = lowered.find(arch);
      if (failed(kernels))
        return failure();
      const PtxOptions options = ptxOptionsFor(*kernels, arch, ptxOptions());
      for (size_t before : older) {
        FailureOr<bool> isSame = lowered.haveSameCode(targets[before].arch, arch);
        if (failed(isSame))
          return failure();
        if (*isSame && !image.like) {
          image.like = &unit.images[before];
          if (targets[before].arch.number < abi::kFirstWithDependentLaunch)
            image.waits = options.waits;
        }
      }
      older.push_back(number);
      if (image.like)
        continue;
      FailureOr<std::unique_ptr<PtxJob>> job = PtxJob::create(*kernels, arch, options);
      if (failed(job))
        return failure();
      image.job = std::move(*job);
    }
    for (KernelUnit::Image &image : unit.images)
      if (image.job)
        pool.add([job = image.job.get()] { job->run(); });
    return success();
  }

  void count(ArrayRef<Request> requests, ArrayRef<std::unique_ptr<KernelUnit>> units) {
    counts_->executables += requests.size();
    size_t made = 0, objects = 0;
    for (const std::unique_ptr<KernelUnit> &unit : units)
      for (const KernelUnit::Image &image : unit->images) {
        counts_->generated += image.isNew, counts_->cached += image.isCached;
        made += size_t(image.isNew) + size_t(image.isCached);
      }
    for (const Request &request : requests)
      for (const KernelUnit::Image &image : request.unit->images) {
        ++objects;
        counts_->ptxBytes += image.ptx.size();
      }
    // A family is made for all of its targets, of which some may be in the cache.
    counts_->shared += objects - std::min(objects, made);
  }

  LogicalResult dumpLlvmIr(const Request &request, ArrayRef<Target> targets) {
    if (dumpFolder.empty())
      return success();
    if (std::error_code error = llvm::sys::fs::create_directories(dumpFolder.getValue()))
      return getOperation().emitError() << "cannot create the folder '" << dumpFolder << "': " << error.message();
    for (auto [target, image] : llvm::zip_equal(targets, request.unit->images)) {
      if (image.llvmIr.empty())
        continue;
      const std::string path = dumpFolder + "/" + imageName(request, target) + ".ll";
      if (Status written = writeFile(path, withNames(image.llvmIr, request.names)); !written.ok())
        return getOperation().emitError() << std::string(written.message());
    }
    return success();
  }

  static std::string imageName(const Request &request, const Target &target) {
    hal::ExecutableSourceOp source = request.source;
    StringRef name = source.getSymName();
    if (source->hasAttr(kSomeTargetsAttr) && name.consume_back(target.arch.toString())) // an edition's says it itself
      name.consume_back("_");
    return name.str() + (request.isFallback ? "_fallback_" : "_") + target.arch.toString();
  }

  void attach(const Request &request, ArrayRef<Target> targets) {
    hal::ExecutableSourceOp source = request.source;
    SmallVector<Attribute> keys, objects;
    for (auto [target, image] : llvm::zip_equal(targets, request.unit->images)) {
      keys.push_back(target.key);
      objects.push_back(ArrayAttr::get(
          &getContext(), objectOf(&getContext(), imageName(request, target), withNames(image.ptx, request.names))));
    }
    auto generated = hal::ExecutableObjectsAttr::get(&getContext(), ArrayAttr::get(&getContext(), keys),
                                                     ArrayAttr::get(&getContext(), objects));
    if (request.isFallback)
      source->setAttr(kFallbackObjectsAttr, generated);
    else
      source.setObjectsAttr(generated);
    request.module->erase();
  }

  GenerationCounts *counts_ = nullptr;
};

} // namespace

std::unique_ptr<Pass> createCountingGenerateKernels(GenerateKernelsOptions options, GenerationCounts *counts) {
  return std::make_unique<GenerateKernels>(std::move(options), counts);
}

} // namespace tenon::compiler::codegen
