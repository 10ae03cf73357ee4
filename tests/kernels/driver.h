// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA driver that the kernels run on: libcuda.so.1 with TENON_CUDA_DRIVER=cuda, else the emulator that
// TENON_EMULATOR_LIBRARY names (or that lies in ../../emulator beside this binary). The same tests run on both.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace tenon::kernels {

#define TENON_STRING_(x) #x
#define TENON_STRING(x) TENON_STRING_(x)
// clang-format off: it breaks inside the parentheses
#define TENON_DRIVER(F) \
  F(cuInit) F(cuDriverGetVersion) F(cuDeviceGet) F(cuDeviceGetName) F(cuDeviceGetAttribute) F(cuDevicePrimaryCtxRetain) \
  F(cuDevicePrimaryCtxRelease) F(cuDevicePrimaryCtxReset) F(cuCtxPushCurrent) F(cuCtxPopCurrent) \
  F(cuCtxSetCurrent) F(cuCtxSynchronize) F(cuModuleLoadData) F(cuModuleLoadDataEx) F(cuModuleUnload) F(cuModuleGetFunction) \
  F(cuMemAlloc) F(cuMemFree) F(cuMemcpyHtoD) F(cuMemcpyDtoH) F(cuLaunchKernel) F(cuLaunchCooperativeKernel) \
  F(cuFuncSetAttribute) F(cuLaunchKernelEx) F(cuTensorMapEncodeTiled)
// clang-format on

/// The driver's functions, by the names that cuda.h maps them to.
struct Driver {
#define TENON_MEMBER(f) decltype(&::f) f##_ = nullptr;
  TENON_DRIVER(TENON_MEMBER)
#undef TENON_MEMBER
  std::string error;
  CUcontext context = nullptr;
  int capability = 0;
  std::string deviceName;
};

inline std::string ownFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  std::string text(path, length > 0 ? static_cast<size_t>(length) : 0);
  return text.substr(0, text.rfind('/'));
}

/// Loads that library, takes its first device and makes its primary context current. `error` says what went wrong.
inline Driver *openDriver(const std::string &path) {
  Driver *d = new Driver;
  void *handle = dlopen(path.c_str(), RTLD_NOW);
  if (!handle) {
    d->error = dlerror();
    return d;
  }
#define TENON_LOAD(f)                                                                                                  \
  d->f##_ = reinterpret_cast<decltype(&::f)>(dlsym(handle, TENON_STRING(f)));                                          \
  if (!d->f##_)                                                                                                        \
    d->error = std::string("no ") + TENON_STRING(f) + " in " + path;
  TENON_DRIVER(TENON_LOAD)
#undef TENON_LOAD
  if (!d->error.empty())
    return d;
  if (CUresult result = d->cuInit_(0); result != CUDA_SUCCESS) {
    d->error = "cuInit: " + std::to_string(result);
    return d;
  }
  int major = 0, minor = 0;
  char name[256] = "";
  d->cuDeviceGetAttribute_(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  d->cuDeviceGetAttribute_(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
  d->cuDeviceGetName_(name, sizeof name, 0);
  d->capability = 10 * major + minor;
  d->deviceName = name;
  d->cuDevicePrimaryCtxRetain_(&d->context, 0);
  d->cuCtxPushCurrent_(d->context);
  return d;
}

inline std::string emulatorLibrary() {
  const char *library = getenv("TENON_EMULATOR_LIBRARY");
  return library && *library ? library : ownFolder() + "/../../emulator/libtenon_emulator.so";
}

inline const Driver &driver() {
  static Driver *loaded = [] {
    const char *wanted = getenv("TENON_CUDA_DRIVER");
    return openDriver(wanted && std::string(wanted) == "cuda" ? "libcuda.so.1" : emulatorLibrary());
  }();
  return *loaded;
}

template <typename T> class Array {
public:
  explicit Array(std::vector<T> values) : count_(values.size()) {
    EXPECT_EQ(driver().cuMemAlloc_(&address, bytes()), CUDA_SUCCESS);
    EXPECT_EQ(driver().cuMemcpyHtoD_(address, values.data(), bytes()), CUDA_SUCCESS);
  }
  explicit Array(size_t count) : Array(std::vector<T>(count)) {}
  ~Array() { driver().cuMemFree_(address); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> read() const {
    std::vector<T> out(count_);
    EXPECT_EQ(driver().cuMemcpyDtoH_(out.data(), address, bytes()), CUDA_SUCCESS);
    return out;
  }
  CUdeviceptr address = 0;

private:
  size_t count_;
};

/// A file of kernels, at the best architecture that the device runs. Skips the test where it was not compiled.
class Kernels : public ::testing::Test {
protected:
  void SetUp() override {
    if (driver().error.empty())
      return;
    const char *wanted = getenv("TENON_CUDA_DRIVER"); // the emulator is always there, and may refuse a variable
    if (!wanted || std::string(wanted) != "cuda")
      FAIL() << "the emulator: " << driver().error;
    GTEST_SKIP() << "no driver: " << driver().error;
  }
  /// False: skipped, the reason is printed.
  bool find(const std::string &file, const std::string &kernel) {
    const char *folder = getenv("TENON_KERNELS_DIR");
    struct Arch {
      int capability;
      const char *name;
      bool exact; // an architecture-specific one
    };
    for (const Arch &arch :
         {Arch{90, "90a", true}, Arch{90, "90", false}, Arch{80, "80", false}, Arch{75, "75", false}}) {
      if (arch.exact ? arch.capability != driver().capability : arch.capability > driver().capability)
        continue;
      std::ifstream in(std::string(folder ? folder : ownFolder()) + "/" + file + "_sm_" + arch.name + ".ptx");
      if (!in)
        continue;
      std::stringstream text;
      text << in.rdbuf();
      EXPECT_EQ(driver().cuModuleLoadData_(&module_, text.str().c_str()), CUDA_SUCCESS) << file << " sm_" << arch.name;
      if (!module_)
        return false;
      EXPECT_EQ(driver().cuModuleGetFunction_(&function_, module_, kernel.c_str()), CUDA_SUCCESS) << kernel;
      return function_ != nullptr;
    }
    skipReason_ = "no PTX of '" + file + ".cu' beside this binary (nvcc was not found when it was built)";
    return false;
  }
  struct Shape {
    unsigned x = 1, y = 1, z = 1;
  };
  /// By reference: a copy of a tensor map on the stack need not lie at a multiple of 64.
  template <typename... Args> CUresult launch(Shape grid, Shape block, unsigned shared, const Args &...args) {
    void *parameters[] = {const_cast<void *>(static_cast<const void *>(&args))...};
    CUresult result = driver().cuLaunchKernel_(function_, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                                               nullptr, parameters, nullptr);
    return result == CUDA_SUCCESS ? driver().cuCtxSynchronize_() : result;
  }
  void TearDown() override {
    if (module_)
      driver().cuModuleUnload_(module_);
  }
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  std::string skipReason_;
};

#define TENON_KERNEL(file, kernel)                                                                                     \
  if (!find(file, kernel)) {                                                                                           \
    if (skipReason_.empty())                                                                                           \
      return;                                                                                                          \
    GTEST_SKIP() << skipReason_;                                                                                       \
  }

/// Deterministic values for tests.
class Random {
public:
  explicit Random(uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  uint32_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 32);
  }
  /// In [low, high).
  double real(double low, double high) { return low + (high - low) * next() * 0x1p-32; }

private:
  uint64_t state_;
};

/// Whole numbers from low to high.
inline std::vector<int> integers(size_t count, uint64_t seed, int low, int high) {
  Random random(seed);
  std::vector<int> out(count);
  for (int &value : out)
    value = low + static_cast<int>(random.next() % static_cast<uint32_t>(high - low + 1));
  return out;
}

} // namespace tenon::kernels
