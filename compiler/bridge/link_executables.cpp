// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/link_executables.h"

#include "compiler/bridge/gpu_object.h"
#include "compiler/bridge/locations.h"
#include "compiler/bridge/objects.h"
#include "compiler/dialect/hal/declarations.h"
#include "linker/assembler/ptxas.h"
#include "linker/link.h"
#include "linker/source/compile_sources.h"
#include "support/files/file.h"
#include "support/files/near_files.h"
#include "support/process/job_pool.h"
#include "support/text/nearest_names.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

using namespace mlir;

namespace tenon::compiler::bridge {
namespace {

// Variants are told apart by name (--variant, tenon-check-kernel): a target's own one has the target's name.
constexpr const char *kFallbackVariant = "fallback";

class ExecutableLinker {
public:
  ExecutableLinker(hal::ExecutableSourceOp source, const ObjectSearch &search, const codegen::PtxOptions &ptx,
                   const linker::LinkJob &settings)
      : source_(source), search_(search), ptx_(ptx), job_(settings) {}

  /// Makes the job; compiles its sources.
  LogicalResult prepare() {
    job_.name = source_.getSymName().str();
    addExports();
    if (failed(addObjects()))
      return failure();
    linker::compileSources(job_, diagnostics_);
    if (!diagnostics_.hasErrors())
      return success();
    report(diagnostics_, locations_, source_.getLoc());
    return failure();
  }

  /// What nearly all time goes into. Knows no MLIR: on any thread.
  void link() {
    output_.emplace(linker::link(job_, diagnostics_));
    job_.objects.clear();
  }

  /// Reports what link() found, and fills `linked` with one more executable.
  LogicalResult finish(LinkedModule &linked) {
    report(diagnostics_, locations_, source_.getLoc());
    if (!output_->ok()) {
      // The findings say it all; a status without one would be lost.
      if (!diagnostics_.hasErrors())
        source_.emitOpError() << "does not link: " << std::string(output_->status().message());
      return failure();
    }
    host::LinkedExecutable entry;
    entry.index = uint32_t(linked.executables.size());
    for (auto op : source_.getBody().getOps<hal::ExecutableExportOp>())
      entry.exports[op.getSymName()] = linkedExport(op, isGenerated(source_));
    linked.table[job_.name] = std::move(entry);
    linked.executables.push_back(std::move((*output_)->executable));
    linked.names.push_back(job_.name);
    linked.maps.push_back(std::move((*output_)->map));
    for (const std::string &file : job_.inputFiles)
      if (!llvm::is_contained(linked.inputFiles, file))
        linked.inputFiles.push_back(file);
    return success();
  }

private:
  void addExports() {
    for (auto op : source_.getBody().getOps<hal::ExecutableExportOp>()) {
      abi::Export exported = exportOf(op);
      exported.declaredAt = locations_.toSource(op.getLoc());
      // Each begins with a wait for those before it (codegen/ptx/rewrites/early_launch.h).
      exported.launch.programmaticDependentLaunch |= isGenerated(source_);
      job_.exports.push_back(std::move(exported));
    }
    llvm::sort(job_.exports, [](const abi::Export &a, const abi::Export &b) { return a.ordinal < b.ordinal; });
  }

  /// Objects of every key, then those of fallbacks. All missing files are reported before it fails.
  LogicalResult addObjects() {
    if (!source_.getObjectsAttr())
      return source_.emitOpError() << "has no objects";
    linker::ObjectInput input;
    input.origin = isGenerated(source_) ? abi::Origin::Generated : abi::Origin::HandWritten;
    bool ok = succeeded(addObjects(source_.getObjectsAttr(), input));
    if (hal::ExecutableObjectsAttr objects = fallbackObjects(source_)) {
      input.origin = abi::Origin::Generated;
      input.variantName = kFallbackVariant;
      for (auto op : source_.getBody().getOps<hal::ExecutableExportOp>())
        if (op->hasAttr(kFallbackAttr))
          input.provides.push_back(op.getSymName().str());
      ok &= succeeded(addObjects(objects, input));
    }
    return success(ok);
  }

  /// @param settings what the objects have in common
  LogicalResult addObjects(hal::ExecutableObjectsAttr objects, linker::ObjectInput settings) {
    bool ok = true;
    for (auto [key, list] : llvm::zip_equal(objects.getTargets().getAsRange<hal::ExecutableTargetAttr>(),
                                            objects.getTargetObjects().getAsRange<ArrayAttr>())) {
      FailureOr<abi::TargetArch> arch = targetArchOf(key, [&] { return source_.emitOpError(); });
      if (failed(arch))
        return failure();
      settings.target = *arch;
      for (auto object : list.getAsRange<hal::ExecutableObjectAttr>())
        ok &= succeeded(addObject(object, settings));
    }
    return success(ok);
  }

  LogicalResult addObject(hal::ExecutableObjectAttr object, linker::ObjectInput input) {
    input.declaredAt = locations_.toSource(source_.getLoc());
    if (object.getPath())
      input.path = object.getPath().getValue().str();
    if (object.getData()) {
      std::optional<std::string> bytes = inlineBytes(object);
      if (!bytes)
        return source_.emitOpError() << "has an object whose data is not dense<...> of i8";
      input.bytes = std::move(*bytes);
      if (input.path.empty())
        input.path = "<object " + std::to_string(job_.objects.size()) + " of @" + job_.name + ">";
    } else if (failed(readObject(input))) {
      return failure();
    }
    job_.objects.push_back(std::move(input));
    return success();
  }

  LogicalResult readObject(linker::ObjectInput &input) {
    std::optional<std::string> path = search_.find(input.path);
    if (!path) {
      InFlightDiagnostic error = source_.emitError()
                                 << "object '" << input.path << "' of '@" << job_.name << "' is not found";
      for (const std::string &tried : search_.candidates(input.path))
        error.attachNote() << "tried '" << tried << "'";
      if (std::vector<std::string> near = nearFiles(search_.candidates(input.path)); !near.empty())
        error.attachNote() << "fix: did you mean " << quotedList(near, "or") << "?";
      else
        error.attachNote() << "fix: name its folder with --object-search-path=DIR";
      return error;
    }
    Result<std::string> bytes = readFile(*path);
    if (!bytes.ok())
      return source_.emitOpError() << std::string(bytes.status().message());
    job_.inputFiles.push_back(*path);
    const std::string named = std::exchange(input.path, *path);
    input.bytes = bytes.take();
    if (isGpuObject(input.path)) {
      FailureOr<std::string> ptx = compileGpuObject(*path, named, input.bytes, input.target, ptx_, source_.getLoc());
      if (failed(ptx))
        return failure();
      input.bytes = std::move(*ptx);
      input.path += ":" + input.target.toString() + ".ptx";
      return success();
    }
    input.isSource = linker::isCudaSource(input.path, input.bytes);
    return success();
  }

  static host::LinkedExport linkedExport(hal::ExecutableExportOp op, bool generated) {
    host::LinkedExport entry{
        .op = op, .ordinal = uint32_t(op.getOrdinal()->getZExtValue()), .isGenerated = generated, .mayWrite = {}};
    for (hal::PipelineBindingAttr binding : op.getLayout().getBindings())
      entry.mayWrite.push_back(!binding.getReadOnly());
    return entry;
  }

  hal::ExecutableSourceOp source_;
  const ObjectSearch &search_;
  const codegen::PtxOptions &ptx_;
  LocationMap locations_;
  linker::LinkJob job_;
  Diagnostics diagnostics_;
  std::optional<Result<linker::LinkOutput>> output_;
};

} // namespace

/// Looks for the assembler once, not for every executable, so that a user hears once that there is none.
static void findAssembler(ModuleOp module, linker::LinkJob &settings) {
  if (settings.imagePolicy != linker::ImagePolicy::CubinAndPtx || !settings.ptxasPath.empty())
    return;
  Result<std::string> ptxas = linker::findPtxas("");
  if (ptxas.ok()) {
    settings.ptxasPath = ptxas.take();
    return;
  }
  settings.imagePolicy = linker::ImagePolicy::Ptx;
  module.emitRemark() << "[K-16] images stay PTX: " << std::string(ptxas.status().message());
}

FailureOr<LinkedModule> linkExecutables(ModuleOp module, const ObjectSearch &search, const codegen::PtxOptions &ptx,
                                        linker::LinkJob settings) {
  auto sources = llvm::to_vector(module.getOps<hal::ExecutableSourceOp>());
  if (!sources.empty())
    findAssembler(module, settings);
  // Executables are linked side by side, so that few assemblers run for each.
  const size_t threads = settings.jobs ? settings.jobs : std::max(1u, std::thread::hardware_concurrency());
  linker::LinkJob shared = settings;
  shared.jobs = uint32_t(std::max(size_t(1), threads / std::max(size_t(1), sources.size())));
  std::vector<std::unique_ptr<ExecutableLinker>> linkers;
  bool ok = true;
  {
    JobPool pool(std::min(threads, sources.size()), kLargeStackBytes);
    for (hal::ExecutableSourceOp source : sources) {
      auto linker = std::make_unique<ExecutableLinker>(source, search, ptx, shared);
      if (failed(linker->prepare())) {
        ok = false;
        continue;
      }
      pool.add([linker = linker.get()] { linker->link(); });
      linkers.push_back(std::move(linker));
    }
  }
  LinkedModule linked;
  for (std::unique_ptr<ExecutableLinker> &linker : linkers)
    ok &= succeeded(linker->finish(linked));
  if (!ok)
    return failure();
  return linked;
}

} // namespace tenon::compiler::bridge
