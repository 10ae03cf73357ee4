// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's functions and numbers are its binary interface, which cuda.h has in words.
#include "compiler/tools/native_target.h"

#include "support/status.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>

namespace tenon::compiler {
namespace {

constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*

std::string libraryPath() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string driver = variable("TENON_CUDA_DRIVER"), emulator = variable("TENON_EMULATOR_LIBRARY");
  if (driver.empty() || driver == "cuda")
    return "libcuda.so.1";
  if (driver != "emulator")
    return driver;
  return emulator.empty() ? "libtenon_emulator.so" : emulator;
}

/// Architecture of each device, 10 * major + minor. A CUresult is an int where functions are called, and another type
/// to the sanitizer that compares types.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
Result<std::vector<uint16_t>> askDriver() {
  const std::string path = libraryPath();
  // Never closed: a driver starts threads that live in its code.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(StatusCode::Unavailable, "the CUDA driver cannot be loaded: ", ::dlerror());
  const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(library, "cuInit"));
  const auto getCount = reinterpret_cast<int (*)(int *)>(::dlsym(library, "cuDeviceGetCount"));
  const auto get = reinterpret_cast<int (*)(int *, int)>(::dlsym(library, "cuDeviceGet"));
  const auto getAttribute = reinterpret_cast<int (*)(int *, int, int)>(::dlsym(library, "cuDeviceGetAttribute"));
  if (!init || !getCount || !get || !getAttribute)
    return makeError(StatusCode::Unavailable, "'", path, "' is no CUDA driver");
  if (const int error = init(0))
    return makeError(StatusCode::Unavailable, "the CUDA driver '", path, "' does not start: error ", error);
  int count = 0;
  if (getCount(&count) != 0 || count <= 0)
    return makeError(StatusCode::Unavailable, "the CUDA driver '", path, "' has no device");
  std::vector<uint16_t> numbers;
  for (int i = 0; i < count; ++i) {
    int device = 0, major = 0, minor = 0;
    if (get(&device, i) != 0 || getAttribute(&major, kComputeCapabilityMajor, device) != 0 ||
        getAttribute(&minor, kComputeCapabilityMinor, device) != 0)
      return makeError(StatusCode::Unavailable, "the CUDA driver '", path, "' does not say what device ", i, " is");
    numbers.push_back(uint16_t(10 * major + minor));
  }
  return numbers;
}

} // namespace

Result<abi::TargetArch> bestTargetFor(uint16_t number) {
  for (abi::ArchSuffix suffix : {abi::ArchSuffix::A, abi::ArchSuffix::None})
    if (const abi::TargetArch arch{number, suffix}; abi::findArch(arch))
      return arch;
  return makeError(StatusCode::NotFound, "--target=native: the device is sm_", number,
                   ", which is not known here; PTX for an earlier target runs on it: ", abi::knownArchList());
}

Result<std::vector<std::string>> replaceNative(const std::vector<std::string> &names) {
  std::vector<std::string> result;
  for (std::string_view rest : names)
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      if (name != "native") {
        result.emplace_back(name);
        continue;
      }
      Result<std::vector<uint16_t>> numbers = askDriver();
      if (!numbers.ok())
        return numbers.takeStatus().withContext("--target=native asks the device");
      for (uint16_t number : *numbers) {
        TENON_ASSIGN_OR_RETURN(abi::TargetArch arch, bestTargetFor(number));
        if (std::string text = arch.toString(); std::find(result.begin(), result.end(), text) == result.end())
          result.push_back(std::move(text));
      }
    }
  return result;
}

} // namespace tenon::compiler
