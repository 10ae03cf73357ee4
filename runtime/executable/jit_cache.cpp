// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's linker (cuLink*) with one PTX input is its compiler, and hands out what cuModuleLoadData would only
// load.
#include "runtime/executable/jit_cache.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "support/number.h"
#include "support/sha256.h"

#include <cstdlib>

namespace tenon::runtime {

JitCache::JitCache(std::string folder, uint64_t limit) : files_(std::move(folder), "tenon-jit 1 ", limit) {}

Result<std::shared_ptr<const JitCache>> JitCache::fromEnvironment() {
  const char *folder = std::getenv("TENON_CACHE_DIR");
  return open(folder ? folder : "");
}

Result<std::shared_ptr<const JitCache>> JitCache::open(std::string_view folder) {
  uint64_t limit = kDefaultLimit;
  if (const char *text = std::getenv("TENON_CACHE_BYTES"); text && *text) {
    const std::optional<uint64_t> bytes = parseNumber<uint64_t>(text);
    if (!bytes)
      return makeError(StatusCode::InvalidArgument, "TENON_CACHE_BYTES=", text, ": expected a number of bytes");
    limit = *bytes;
  }
  const std::string base = folder.empty() ? FolderCache::userFolder() : std::string(folder);
  if (base.empty() || base == "none" || limit == 0)
    return std::shared_ptr<const JitCache>();
  return std::make_shared<const JitCache>(base + "/jit", limit);
}

std::string JitCache::keyOf(std::string_view ptx, const abi::DeviceTraits &device) {
  // No options are given to the compiler: its own defaults are part of its version.
  return Sha256()
      .addField(ptx)
      .addField(concat("sm_", device.computeCapability))
      .addField(concat("driver ", device.driverVersion))
      .addField("options none")
      .hex();
}

bool canKeepCompiled(const Device &device) {
  const cuda::Driver &driver = device.driver();
  return !device.isEmulator() && driver.cuLinkCreate_v2 && driver.cuLinkAddData_v2 && driver.cuLinkComplete &&
         driver.cuLinkDestroy;
}

Result<std::string> compilePtx(const Device &device, std::string_view ptx) {
  const cuda::Driver &driver = device.driver();
  CUlinkState state = nullptr;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver, driver.cuLinkCreate_v2(0, nullptr, nullptr, &state), "cuLinkCreate_v2"));
  void *cubin = nullptr; // the state's
  size_t bytes = 0;
  std::string compiled;
  Status status = cuda::driverStatus(driver,
                                     driver.cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, const_cast<char *>(ptx.data()),
                                                             ptx.size(), "ptx", 0, nullptr, nullptr),
                                     "cuLinkAddData_v2");
  if (status.ok())
    status = cuda::driverStatus(driver, driver.cuLinkComplete(state, &cubin, &bytes), "cuLinkComplete");
  if (status.ok())
    compiled.assign(static_cast<const char *>(cubin), bytes);
  (void)driver.cuLinkDestroy(state);
  TENON_RETURN_IF_ERROR(std::move(status));
  return compiled;
}

} // namespace tenon::runtime
