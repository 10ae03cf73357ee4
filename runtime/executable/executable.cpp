// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an export to a function that can be launched. In: the candidates of the file. Out: the best one that the device
// takes (abi/kernel_abi.md, "Which image runs where"), loaded and checked against its layout; or the table of refusals.
#include "runtime/executable/executable.h"

#include "abi/arch_table.h"
#include "abi/occupancy.h"
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/executable/jit_cache.h"
#include "support/memory.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::runtime {

Executable::Executable(std::shared_ptr<Device> device, const abi::ExecutableView &view, ExecutableOptions options)
    : device_(std::move(device)), view_(view), options_(std::move(options)), slots_(view.exportCount()) {}

namespace {

/// Why the emulator refused what it was asked for last; empty on other drivers.
std::string emulatorReport(const cuda::Driver &driver) {
  std::string text(driver.lastReport ? driver.lastReport(nullptr, 0) + 1 : 1, '\0');
  if (driver.lastReport)
    driver.lastReport(text.data(), text.size());
  text.resize(strnlen(text.data(), text.size()));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

/// Bytes, the view of them, and the executable on the view, in the order of their lives.
struct OwnedExecutable {
  struct alignas(64) Block {
    uint8_t bytes[64];
  };
  std::vector<Block> bytes; // as the verifier wants them: at a 64-byte boundary
  std::optional<abi::ExecutableView> view;
  std::optional<Executable> executable;
};

} // namespace

Result<std::shared_ptr<Executable>> Executable::create(std::shared_ptr<Device> device, std::span<const uint8_t> bytes,
                                                       std::string_view name, const ExecutableOptions &options) {
  auto owned = std::make_shared<OwnedExecutable>();
  TENON_RETURN_IF_ERROR(resizeChecked(owned->bytes, bytes.size() / sizeof(OwnedExecutable::Block) + 1,
                                      concat("the copy of '", name, "'")));
  if (!bytes.empty())
    std::memcpy(owned->bytes.data(), bytes.data(), bytes.size());
  TENON_ASSIGN_OR_RETURN(owned->view, abi::ExecutableView::create({owned->bytes.front().bytes, bytes.size()}, name));
  owned->executable.emplace(std::move(device), *owned->view, options);
  return std::shared_ptr<Executable>(owned, &*owned->executable);
}

Executable::~Executable() {
  ReleaseScope scope = device_->enterToRelease();
  images_.clear();
}

Result<const LoadedExport *> Executable::load(uint32_t ordinal) {
  if (ordinal >= slots_.size())
    return makeError(StatusCode::OutOfRange, "executable '", view_.name(), "' has ", slots_.size(),
                     " exports, there is no export ", ordinal);
  std::lock_guard lock(mutex_);
  Slot &slot = slots_[ordinal];
  if (!slot.tried)
    select(ordinal, slot);
  if (!slot.failure.ok())
    return slot.failure.clone();
  return &slot.loaded;
}

bool Executable::hasImage(uint32_t ordinal) const {
  const std::vector<abi::Candidate> candidates = view_.candidates(ordinal);
  std::vector<abi::RankedCandidate> ranking = abi::rankCandidates(candidates, device_->traits());
  applyOptions(options_, candidates, ranking);
  return !ranking.empty() && ranking.front().verdict.runs;
}

void Executable::select(uint32_t ordinal, Slot &slot) {
  slot.tried = true;
  slot.failure = okStatus();
  HostSpan span(device_->trace(), "load", "load", view_.exportAt(ordinal).name);
  slot.candidates = view_.candidates(ordinal);
  slot.ranking = abi::rankCandidates(slot.candidates, device_->traits());
  applyOptions(options_, slot.candidates, slot.ranking);
  // Only failures name the place: it has to be looked up.
  auto where = [&] {
    const SourceLocation place = view_.declaredAt(ordinal);
    return concat("export '", view_.exportAt(ordinal).name, "' of executable '", view_.name(), "'",
                  place.known() ? concat(" (", place.toString(), ")") : std::string());
  };

  // Best first. What the driver refuses goes to the end of the table with its reason, and the next one is tried.
  while (!slot.ranking.empty() && slot.ranking.front().verdict.runs) {
    abi::RankedCandidate best = slot.ranking.front();
    bool refused = false;
    Status status = loadCandidate(ordinal, slot.candidates[best.index], slot.loaded, refused);
    if (status.ok()) {
      span.detail("variant", slot.loaded.variantName);
      span.detail("kernel", slot.loaded.symbol);
      span.detail("image", slot.loaded.imageOrigin);
      return;
    }
    if (!refused) {
      slot.tried = false; // out of memory, say: another time it may load
      slot.failure =
          std::move(status).withContext(concat(where(), ", variant '", slot.candidates[best.index].variantName, "'"));
      return;
    }
    best.verdict = {false, concat("refused by the driver: ", status.message())};
    slot.ranking.erase(slot.ranking.begin());
    slot.ranking.push_back(std::move(best));
  }
  slot.failure = makeError(StatusCode::FailedPrecondition, "no image of ", where(), " runs on ", device_->description(),
                           "\n", abi::explainRanking(slot.candidates, slot.ranking, &device_->traits()));
}

/// A kernel that was generated in place of a hand-written one reads the tensor and not its map. One that asks for maps
/// itself runs without where there are none.
static TensorMapEncoder encoderFor(const abi::ParameterLayout &parameters, const abi::Candidate &candidate,
                                   const cuda::Driver &driver) {
  if (candidate.origin == abi::Origin::HandWritten)
    return driver.cuTensorMapEncodeTiled;
  const bool areOwn =
      std::ranges::all_of(parameters.tensorMaps, [](const abi::EncodedTensorMap &each) { return each.map.isOptional; });
  const bool isEncoded = areOwn && candidate.arch.number >= abi::kFirstWithTensorMaps && driver.cuTensorMapEncodeTiled;
  return isEncoded ? driver.cuTensorMapEncodeTiled : encodeNoTensorMap;
}

/// A kernel that may be launched while the one before it still runs waits for it by an instruction that images for
/// older architectures do not have: these are launched behind it, as are all where the driver does not know to launch
/// so, or to capture that.
static bool waitsForEarlierLaunches(const abi::Candidate &candidate, const cuda::Driver &driver) {
  constexpr int kFirstDriver = 12030;
  return candidate.arch.number >= abi::kFirstWithDependentLaunch && driver.cuLaunchKernelEx &&
         driver.version() >= kFirstDriver;
}

Status Executable::loadCandidate(uint32_t ordinal, const abi::Candidate &candidate, LoadedExport &out, bool &refused) {
  auto known = images_.find(candidate.imageIndex);
  if (known == images_.end()) {
    TENON_ASSIGN_OR_RETURN(LoadedImage image, loadImage(*device_, view_, candidate.imageIndex, options_.cache.get()));
    known = images_.emplace(candidate.imageIndex, std::move(image)).first;
  }
  const LoadedImage &image = known->second;
  if (!image.ok()) {
    refused = true;
    return image.refusal.clone();
  }

  out = LoadedExport();
  out.declaration = &view_.exportAt(ordinal);
  out.variantName = candidate.variantName;
  out.imageOrigin = image.origin;
  TENON_ASSIGN_OR_RETURN(out.parameters, abi::computeParameterLayout(out.declaration->layout));
  const abi::fb::Kernel *kernel = view_.findKernel(candidate.variantIndex, ordinal);
  out.symbol = kernel ? std::string(view_.symbolOf(*kernel)) : out.declaration->symbol;
  out.launch = out.declaration->launch;
  out.launch.dynamicSharedBytes = candidate.dynamicSharedBytes;
  out.launch.workgroupSize = candidate.workgroupSize;
  const abi::Extent3 &cluster = out.launch.cluster;
  if (candidate.clusterBlocks == 1 && uint64_t(cluster[0]) * cluster[1] * cluster[2] > 1)
    out.launch.cluster = {0, 0, 0}; // the hand-written kernel's
  out.launch.programmaticDependentLaunch &= waitsForEarlierLaunches(candidate, device_->driver());

  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_->driver();
  // A driver that loads lazily may find out only now that the image is not for this device.
  const CUresult found = driver.cuModuleGetFunction(&out.function, image.module.get(), out.symbol.c_str());
  refused = isImageRefusal(found);
  out.module = image.module.get();
  out.encodeTensorMap = encoderFor(out.parameters, candidate, driver);
  if (found != CUDA_SUCCESS) {
    Status failure = cuda::driverStatus(driver, found, concat("cuModuleGetFunction('", out.symbol, "')"));
    const std::string reasons = refused ? emulatorReport(driver) : std::string();
    return reasons.empty() ? std::move(failure) : makeError(failure.code(), failure.message(), "\n", reasons);
  }
  TENON_RETURN_IF_ERROR(checkFunction(out, candidate));
  if (candidate.takesAnyGrid)
    TENON_RETURN_IF_ERROR(limitGrid(out, candidate));
  declareReadOnly(out);
  return okStatus();
}

/// Blocks that do not run at once would each begin and end for nothing.
Status Executable::limitGrid(LoadedExport &loaded, const abi::Candidate &candidate) const {
  TENON_ASSIGN_OR_RETURN(const int registers,
                         functionAttribute(loaded.function, CU_FUNC_ATTRIBUTE_NUM_REGS, "NUM_REGS"));
  const abi::Occupancy found = abi::computeOccupancy(
      abi::TargetArch{device_->traits().computeCapability}, loaded.launch.threads(), uint32_t(std::max(registers, 0)),
      uint64_t(candidate.staticSharedBytes) + loaded.launch.dynamicSharedBytes);
  loaded.clusterBlocks = uint32_t(candidate.clusterBlocks);
  const uint32_t clusters = found.blocksPerSm * device_->context().multiprocessors() / loaded.clusterBlocks;
  loaded.mostBlocks = std::max(clusters, 1u) * loaded.clusterBlocks;
  return okStatus();
}

/// The emulator reports writes through bindings that the layout declares ReadOnly.
void Executable::declareReadOnly(const LoadedExport &loaded) const {
  const cuda::Driver &driver = device_->driver();
  const std::vector<abi::Binding> &bindings = loaded.declaration->layout.bindings;
  if (!driver.readOnlyPointer)
    return;
  for (const abi::Slot &slot : loaded.parameters.slots) {
    // A tensor map leads to its binding as well as the pointer does.
    const bool isMap = slot.kind == abi::ParameterKind::Constant && slot.tensorMap != abi::Slot::kNoTensorMap;
    if (!isMap && slot.kind != abi::ParameterKind::Binding)
      continue;
    const uint32_t binding = isMap ? loaded.parameters.tensorMaps[slot.tensorMap].map.binding : slot.index;
    if (!bindings[binding].readOnly)
      continue;
    std::string name = concat("binding ", binding);
    if (!bindings[binding].name.empty())
      name += concat(" '", bindings[binding].name, "'");
    driver.readOnlyPointer(loaded.function, slot.parameter, loaded.parameters.offsetIn(slot), name.c_str());
  }
}

Result<int> Executable::functionAttribute(CUfunction function, CUfunction_attribute attribute, const char *name) const {
  int value = 0;
  const cuda::Driver &driver = device_->driver();
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuFuncGetAttribute(&value, attribute, function),
                                           concat("cuFuncGetAttribute(", name, ")")));
  return value;
}

/// K-3 once more, by the driver's own account, as far as it fixes offsets: cuLaunchKernel takes the parameter count
/// from the image and would read past a shorter argument array.
Status Executable::checkParameters(const LoadedExport &loaded) const {
  const cuda::Driver &driver = device_->driver();
  if (!driver.cuFuncGetParamInfo)
    return okStatus();
  const std::vector<abi::Parameter> &parameters = loaded.parameters.parameters;
  size_t index = 0;
  for (;; ++index) {
    size_t offset = 0, size = 0;
    const CUresult result = driver.cuFuncGetParamInfo(loaded.function, index, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE)
      break; // past the last
    if (result == CUDA_ERROR_NOT_SUPPORTED)
      return okStatus();
    TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, result, concat("cuFuncGetParamInfo(", index, ")")));
    if (index >= parameters.size())
      continue; // counted below
    if (size != parameters[index].size || (!parameters[index].imagePlaces && offset != parameters[index].offset))
      return makeError(StatusCode::FailedPrecondition, "[K-4] parameter ", index, " of kernel '", loaded.symbol,
                       "' is ", size, " bytes at offset ", offset, " in the loaded image, the layout declares ",
                       parameters[index].size, " bytes at offset ", parameters[index].offset);
  }
  if (index != parameters.size())
    return makeError(StatusCode::FailedPrecondition, "[K-11] kernel '", loaded.symbol, "' takes ", index,
                     " parameters in the loaded image, the layout declares ", parameters.size());
  return okStatus();
}

/// What the driver knows better than the file. Of a cubin the linker has seen the very code that runs, so threads and
/// static shared memory were compared then (K-17); asking again would make a driver that loads lazily load the code
/// now.
Status Executable::checkFunction(const LoadedExport &loaded, const abi::Candidate &candidate) const {
  TENON_RETURN_IF_ERROR(checkParameters(loaded));
  if (!loaded.parameters.tensorMaps.empty() && !loaded.encodeTensorMap)
    return makeError(StatusCode::Unimplemented, "[K-22] kernel '", loaded.symbol, "' takes tensor maps, ",
                     device_->description(), " has no cuTensorMapEncodeTiled (drivers from 12.0 on have it)");
  const abi::Launch &launch = loaded.launch;
  const bool isProven = candidate.kind == abi::ImageKind::Cubin;
  if (!isProven) {
    TENON_ASSIGN_OR_RETURN(int threads, functionAttribute(loaded.function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                                          "MAX_THREADS_PER_BLOCK"));
    if (launch.threads() > static_cast<uint64_t>(threads))
      return makeError(StatusCode::FailedPrecondition, "[K-8] the workgroup has ", launch.threads(),
                       " threads, kernel '", loaded.symbol, "' takes at most ", threads, " on ",
                       device_->description());
  }

  // Above the default limit a block must opt in to shared memory, static and dynamic together.
  int staticShared = static_cast<int>(candidate.staticSharedBytes);
  if (!isProven) {
    TENON_ASSIGN_OR_RETURN(
        staticShared, functionAttribute(loaded.function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, "SHARED_SIZE_BYTES"));
  }
  const uint64_t shared = static_cast<uint64_t>(staticShared) + launch.dynamicSharedBytes;
  const cuda::Driver &driver = device_->driver();
  if (launch.dynamicSharedBytes != 0 && shared > device_->context().sharedBytesWithoutOptin()) {
    if (shared > device_->traits().maxSharedOptinBytes)
      return makeError(StatusCode::FailedPrecondition, "[K-9] kernel '", loaded.symbol, "' needs ", shared,
                       " bytes of shared memory (", staticShared, " static, ", launch.dynamicSharedBytes, " dynamic), ",
                       device_->description(), " has ", device_->traits().maxSharedOptinBytes, " per workgroup");
    TENON_RETURN_IF_ERROR(cuda::driverStatus(
        driver,
        driver.cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(launch.dynamicSharedBytes)),
        concat("cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, ", launch.dynamicSharedBytes, ")")));
  }
  // More than 8 workgroups in a cluster is not portable and must be asked for.
  if (uint64_t(launch.cluster[0]) * launch.cluster[1] * launch.cluster[2] > 8)
    TENON_RETURN_IF_ERROR(cuda::driverStatus(
        driver, driver.cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        "cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)"));
  return okStatus();
}

/// ", compute_80 code running as sm_90", as the driver reports it; empty where it does not say.
std::string Executable::describeCode(const LoadedExport &loaded) const {
  cuda::ContextScope scope = device_->enter();
  Result<int> ptx = functionAttribute(loaded.function, CU_FUNC_ATTRIBUTE_PTX_VERSION, "PTX_VERSION");
  Result<int> binary = functionAttribute(loaded.function, CU_FUNC_ATTRIBUTE_BINARY_VERSION, "BINARY_VERSION");
  return ptx.ok() && binary.ok() ? concat(", compute_", *ptx, " code running as sm_", *binary) : std::string();
}

std::string Executable::explain() {
  std::string out = concat("executable '", view_.name(), "' on ", device_->description(), "\n");
  std::string previous; // exports mostly share their images: the same table is printed once
  for (uint32_t ordinal = 0; ordinal < slots_.size(); ++ordinal) {
    Result<const LoadedExport *> loaded = load(ordinal);
    std::lock_guard lock(mutex_);
    const Slot &slot = slots_[ordinal];
    out += concat("export ", ordinal, " '", view_.exportAt(ordinal).name, "'\n");
    std::string table = abi::explainRanking(slot.candidates, slot.ranking);
    out += table == previous ? concat("  as export ", ordinal - 1, "\n") : table;
    previous = std::move(table);
    if (loaded.ok())
      out += concat("  loaded: variant '", (*loaded)->variantName, "', kernel '", (*loaded)->symbol, "'",
                    describeCode(**loaded), "\n");
    else if (!slot.ranking.empty() && slot.ranking.front().verdict.runs)
      out += concat("  not loaded: ", loaded.status().message(), "\n");
  }
  return out;
}

} // namespace tenon::runtime
