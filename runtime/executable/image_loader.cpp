// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuModuleLoadDataEx with a log buffer: the driver's PTX compiler says there what is wrong, with lines of the PTX.
#include "runtime/executable/image_loader.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/executable/jit_cache.h"

#include <array>
#include <cstring>

namespace tenon::runtime {

bool isImageRefusal(CUresult result) {
  switch (static_cast<int>(result)) {
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILATION_DISABLED: // CUDA_DISABLE_PTX_JIT=1: a cubin may still load
  case CUDA_ERROR_INVALID_SOURCE:
    return true;
  default:
    return false;
  }
}

namespace {

constexpr size_t kLogBytes = 16384;

/// A log buffer's text, without the line end the driver closes it with.
std::string logText(const std::vector<char> &buffer) {
  std::string text(buffer.data(), strnlen(buffer.data(), buffer.size()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

/// The finished code of PTX: kept, or compiled and kept. False: the PTX itself is to be loaded.
bool loadThroughCache(Device &device, const JitCache &cache, const abi::ExecutableView &executable, uint32_t imageIndex,
                      std::string_view ptx, LoadedImage &out) {
  const cuda::Driver &driver = device.driver();
  const std::string key = JitCache::keyOf(ptx, device.traits());
  auto load = [&](const std::string &cubin) {
    CUmodule module = nullptr;
    if (driver.cuModuleLoadDataEx(&module, cubin.data(), 0, nullptr, nullptr) != CUDA_SUCCESS)
      return false;
    out.module = cuda::ModuleHandle(driver, module);
    return true;
  };
  if (const std::optional<std::string> kept = cache.files().find(key)) {
    if (*kept == JitCache::kLeftToLoader)
      return false;
    if (load(*kept)) {
      device.countModule();
      device.countJit(/*isHit=*/true);
      out.origin = "from the cache";
      return true;
    }
    cache.files().remove(key); // whole, and yet not what this driver takes
  }
  const Result<std::string> compiled = compilePtx(device, ptx);
  if (!compiled.ok() || !load(*compiled))
    return false;
  if (registersLimit(device, executable, imageIndex, out.module.get())) {
    out.module = cuda::ModuleHandle();
    (void)cache.files().store(key, JitCache::kLeftToLoader); // else it is asked again
    return false;
  }
  device.countModule();
  device.countJit(/*isHit=*/false);
  const Status stored = cache.files().store(key, *compiled);
  out.origin = stored.ok() ? "compiled, now in the cache" : concat("compiled, not kept: ", stored.message());
  return true;
}

} // namespace

Result<LoadedImage> loadImage(Device &device, const abi::ExecutableView &executable, uint32_t imageIndex,
                              const JitCache *cache) {
  const abi::fb::Image &image = *executable.raw().images()->Get(imageIndex);
  TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, executable.imageBytes(imageIndex));
  if (image.kind() == abi::fb::ImageKind::Ptx)
    bytes.push_back(0); // stored without; the driver reads up to it

  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device.driver();
  LoadedImage loaded;
  const bool isCompiled = image.kind() == abi::fb::ImageKind::Ptx && !device.isEmulator();
  const std::string_view ptx(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (isCompiled && cache && canKeepCompiled(device) && linkerMakesTheSame(ptx) &&
      loadThroughCache(device, *cache, executable, imageIndex, ptx, loaded))
    return loaded;

  // A cubin passes no compiler that could log.
  std::vector<char> error(image.kind() == abi::fb::ImageKind::Ptx ? kLogBytes : 0);
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // The size is passed in the pointer itself, as 32 bits.
  std::array<void *, 2> values = {error.data(), reinterpret_cast<void *>(uintptr_t(error.size()))};
  const unsigned optionCount = error.empty() ? 0 : static_cast<unsigned>(options.size());
  CUmodule module = nullptr;
  if (driver.nameModule && image.source())
    driver.nameModule(image.source()->c_str());
  const CUresult result = driver.cuModuleLoadDataEx(&module, bytes.data(), optionCount, options.data(), values.data());

  if (result == CUDA_SUCCESS) {
    loaded.module = cuda::ModuleHandle(driver, module);
    device.countModule();
    if (isCompiled)
      device.countJit(/*isHit=*/false);
    return loaded;
  }
  std::string call = "cuModuleLoadDataEx";
  if (image.source())
    call += concat(" of '", image.source()->string_view(), "'");
  Status failure = cuda::driverStatus(driver, result, call);
  if (const std::string log = logText(error); !log.empty())
    failure = makeError(failure.code(), failure.message(), "\n", log);
  if (!isImageRefusal(result))
    return failure;
  loaded.refusal = std::move(failure);
  return loaded;
}

} // namespace tenon::runtime
