// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-generate-kernels (Passes.td): the kernel functions of each executable, lowered once and printed per target.
//
// Modules that print alike, but for the names of their kernels, are generated once: each kernel is called by a number
// while it is generated, and each executable gets the PTX with its own names. What the cache has is not generated at
// all. LLVM's part runs side by side (PtxJob); MLIR's stays on this thread, whose context it is.
#include "compiler/codegen/generate_kernels.h"

#include "abi/arch_table.h"
#include "compiler/codegen/generate_ptx.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/lowered_kernels.h"
#include "compiler/codegen/ptx/same_code.h"
#include "compiler/codegen/targets.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "support/files/file.h"
#include "support/process/job_pool.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringExtras.h"
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

/// What stands for a kernel's name while it is generated. No such name is the beginning of another.
std::string placeholder(size_t number) {
  return "__tenon_kernel_" + std::to_string(number) + "__";
}

/// PTX's identifiers. LLVM spells other names in its own way, so these keep theirs.
bool isPtxIdentifier(StringRef name) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  return !name.empty() && llvm::all_of(name, isPart) && !llvm::isDigit(name.front());
}

std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  std::string result;
  result.reserve(text.size());
  for (size_t at; (at = text.find(from)) != StringRef::npos; text = text.drop_front(at + from.size()))
    (result += text.take_front(at)) += to;
  return result += text;
}

/// The functions of a module, named by numbers until the end of its life.
class NumberedKernels {
public:
  explicit NumberedKernels(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      if (isPtxIdentifier(function.getName())) {
        names_.push_back(function.getName().str());
        functions_.push_back(function);
        function.setName(placeholder(functions_.size() - 1));
      }
  }
  ~NumberedKernels() {
    for (auto [function, name] : llvm::zip_equal(functions_, names_))
      function.setName(name);
  }
  std::vector<std::string> takeNames() { return names_; }

private:
  std::vector<func::FuncOp> functions_;
  std::vector<std::string> names_;
};

/// The text that decides about a module's code; empty: it does not (bytes of a resource stand elsewhere).
std::string textOf(ModuleOp module, bool withPlaces) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope().assumeVerified().enableDebugInfo(withPlaces));
  return StringRef(text).contains("dense_resource<") ? std::string() : text;
}

/// One module, whoever asks for it, for each target.
struct Unit {
  struct Image {
    std::string key;                 // in the cache
    std::string ptx;                 // with placeholders
    std::string llvmIr;              // the same; empty: nobody wants it
    std::unique_ptr<PtxJob> job;     // until it is done
    bool isNew = false;              // `ptx` was not in the cache
    Image *like = nullptr;           // one with the same code, which is made or was found
    std::optional<PlainWaits> waits; // what that one has not
  };
  std::vector<Image> images; // [targets]
};

/// An executable that gets objects, once they are generated.
struct Request {
  hal::ExecutableSourceOp source;
  ModuleOp module;
  bool isFallback;
  std::vector<std::string> names; // [placeholders]
  Unit *unit;
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
    std::vector<hal::ExecutableSourceOp> sources;
    for (auto source : getOperation().getOps<hal::ExecutableSourceOp>())
      if (!source.getBody().front().getOps<ModuleOp>().empty())
        sources.push_back(source);
    if (!sources.empty() && failed(generate(sources, *targets)))
      signalPassFailure();
  }

private:
  LogicalResult generate(ArrayRef<hal::ExecutableSourceOp> sources, ArrayRef<Target> targets) {
    // What was kept has no LLVM IR.
    KernelCache cache(dumpFolder.empty() ? StringRef(cacheFolder) : StringRef(), optionsText(), cudaPath);
    std::vector<Request> requests;
    std::vector<std::unique_ptr<Unit>> units;
    llvm::StringMap<Unit *> known; // by text
    bool ok = true;
    {
      JobPool pool(jobs, kLargeStackBytes);
      for (hal::ExecutableSourceOp source : sources) {
        FailureOr<Request> request = readRequest(source);
        if (failed(request)) {
          ok = false;
          continue;
        }
        NumberedKernels kernels(request->module);
        request->names = kernels.takeNames();
        const std::string text = textOf(request->module, lineInfo);
        Unit *&unit = text.empty() ? request->unit : known[text];
        if (!unit) {
          FailureOr<std::unique_ptr<Unit>> begun = begin(request->module, text, targets, cache, pool);
          if (failed(begun)) {
            ok = false;
            continue; // one that is like it reports its own errors
          }
          unit = begun->get();
          units.push_back(std::move(*begun));
        }
        request->unit = unit;
        requests.push_back(std::move(*request));
      }
    }
    for (std::unique_ptr<Unit> &unit : units)
      ok &= succeeded(finish(*unit, targets, cache));
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

  /// Asks the cache, and has the pool make what it has not.
  FailureOr<std::unique_ptr<Unit>> begin(ModuleOp module, StringRef text, ArrayRef<Target> targets,
                                         const KernelCache &cache, JobPool &pool) {
    auto unit = std::make_unique<Unit>();
    unit->images.resize(targets.size()); // they point at each other
    LoweredKernels lowered(module, ptxOptions());
    SmallVector<size_t> older;
    for (size_t number : oldestFirst(targets)) {
      Unit::Image &image = unit->images[number];
      const abi::TargetArch arch = targets[number].arch;
      if (cache.isEnabled() && !text.empty()) {
        image.key = cache.keyOf(text, arch);
        if (std::optional<std::string> found = cache.find(image.key)) {
          image.ptx = std::move(*found);
          older.push_back(number);
          continue;
        }
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
          image.like = &unit->images[before];
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
    for (Unit::Image &image : unit->images)
      if (image.job)
        pool.add([job = image.job.get()] { job->run(); });
    return std::move(unit);
  }

  static SmallVector<size_t> oldestFirst(ArrayRef<Target> targets) {
    SmallVector<size_t> numbers = llvm::to_vector(llvm::seq<size_t>(0, targets.size()));
    llvm::sort(numbers, [&](size_t a, size_t b) {
      return std::pair(targets[a].arch.number, a) < std::pair(targets[b].arch.number, b);
    });
    return numbers;
  }

  LogicalResult finish(Unit &unit, ArrayRef<Target> targets, KernelCache &cache) {
    bool ok = true;
    for (size_t number : oldestFirst(targets)) {
      Unit::Image &image = unit.images[number];
      if (image.like && !image.like->ptx.empty()) {
        image.ptx = retargetPtx(image.like->ptx, targets[number].arch);
        if (image.waits)
          image.ptx = writeWaits(image.ptx, *image.waits);
        if (!image.key.empty())
          cache.store(image.key, image.ptx);
      }
      if (!image.job)
        continue;
      FailureOr<std::string> ptx = image.job->take();
      image.llvmIr = image.job->llvmIr();
      image.job.reset();
      image.isNew = true;
      if (failed(ptx)) {
        ok = false;
        continue;
      }
      image.ptx = std::move(*ptx);
      if (!image.key.empty())
        cache.store(image.key, image.ptx);
    }
    return success(ok);
  }

  void count(ArrayRef<Request> requests, ArrayRef<std::unique_ptr<Unit>> units) {
    counts_->executables += requests.size();
    for (const std::unique_ptr<Unit> &unit : units)
      for (const Unit::Image &image : unit->images)
        counts_->generated += image.isNew, counts_->cached += !image.isNew && !image.like;
    size_t objects = 0;
    for (const Request &request : requests)
      for (const Unit::Image &image : request.unit->images) {
        ++objects;
        counts_->ptxBytes += image.ptx.size();
      }
    counts_->shared = objects - counts_->generated - counts_->cached;
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
      if (Status written = writeFile(path, named(image.llvmIr, request)); !written.ok())
        return getOperation().emitError() << std::string(written.message());
    }
    return success();
  }

  /// `text` with the request's own names.
  static std::string named(std::string text, const Request &request) {
    for (auto [number, name] : llvm::enumerate(request.names))
      text = replaceAll(text, placeholder(number), name);
    return text;
  }
  static std::string imageName(const Request &request, const Target &target) {
    hal::ExecutableSourceOp source = request.source;
    return source.getSymName().str() + (request.isFallback ? "_fallback_" : "_") + target.arch.toString();
  }

  void attach(const Request &request, ArrayRef<Target> targets) {
    hal::ExecutableSourceOp source = request.source;
    SmallVector<Attribute> keys, objects;
    for (auto [target, image] : llvm::zip_equal(targets, request.unit->images)) {
      keys.push_back(target.key);
      objects.push_back(ArrayAttr::get(&getContext(),
                                       objectOf(&getContext(), imageName(request, target), named(image.ptx, request))));
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
