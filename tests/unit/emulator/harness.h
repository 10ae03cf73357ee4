// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs small PTX kernels through the driver API of libtenon_emulator.so, which the test links.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace tenon::emulator::test {

/// The device and its primary context, current in the calling thread until the end of the scope.
class Session {
public:
  Session() {
    setenv("TENON_EMULATOR_QUIET", "1", 0);
    setenv("TENON_EMULATOR_FAULTS", "context", 0); // many tests, one process
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
  }
  ~Session() {
    CUcontext popped;
    cuCtxPopCurrent(&popped);
    cuDevicePrimaryCtxRelease(0);
  }
  CUcontext context = nullptr;
};

/// From sm_100 on, targets need a newer version.
inline std::string header(const std::string &target = "sm_75") {
  return (target < "sm_2" ? ".version 8.7\n.target " : ".version 8.0\n.target ") + target + "\n.address_size 64\n";
}

struct Loaded {
  CUresult result = CUDA_SUCCESS;
  CUmodule module = nullptr;
  std::string log;
};
inline Loaded load(const std::string &ptx) {
  Loaded loaded;
  std::vector<char> log(1 << 16);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  loaded.result = cuModuleLoadDataEx(&loaded.module, ptx.c_str(), 2, options, values);
  loaded.log = log.data();
  return loaded;
}

/// Device memory with the values of a vector.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(const std::vector<T> &values) : count_(values.size()) {
    EXPECT_EQ(cuMemAlloc(&address, bytes()), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(address, values.data(), bytes()), CUDA_SUCCESS);
  }
  explicit DeviceArray(size_t count) : DeviceArray(std::vector<T>(count)) {}
  ~DeviceArray() { cuMemFree(address); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> read() const {
    std::vector<T> out(count_);
    EXPECT_EQ(cuMemcpyDtoH(out.data(), address, bytes()), CUDA_SUCCESS);
    return out;
  }
  CUdeviceptr address = 0;

private:
  size_t count_;
};

/// The text of the last kernel failure.
inline std::string lastReport() {
  void *function = nullptr;
  EXPECT_EQ(cuGetProcAddress("tenonEmulatorLastReport", &function, 13000, 0, nullptr), CUDA_SUCCESS);
  std::vector<char> text(1 << 16);
  reinterpret_cast<size_t (*)(char *, size_t)>(function)(text.data(), text.size());
  return text.data();
}

/// Why kernel `k` of a module that loads cannot run.
inline std::string refusal(const std::string &ptx) {
  Loaded loaded = load(ptx);
  EXPECT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  if (loaded.result != CUDA_SUCCESS)
    return {};
  lastReport(); // from now on nothing is printed
  CUfunction function;
  EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_ERROR_INVALID_PTX) << ptx;
  cuModuleUnload(loaded.module);
  return lastReport();
}

/// What loading a module and asking for its kernel `k` gives: an error, or CUDA_SUCCESS.
inline CUresult ask(const std::string &ptx) {
  Loaded loaded = load(ptx);
  if (loaded.result != CUDA_SUCCESS)
    return loaded.result;
  lastReport();
  CUfunction function;
  const CUresult result = cuModuleGetFunction(&function, loaded.module, "k");
  cuModuleUnload(loaded.module);
  return result;
}

/// Another TENON_EMULATOR_ORDER until the end of the scope. Nothing may be enqueued at either end. Work that nobody
/// asks for starts by itself only where a test is about that: a loaded machine stops a test for any time.
class WithOrder {
public:
  explicit WithOrder(const std::string &order, const char *idleMilliseconds = "600000") {
    setenv("TENON_EMULATOR_IDLE_MILLISECONDS", idleMilliseconds, 1);
    set(order);
  }
  ~WithOrder() { set("eager"); }
  WithOrder(const WithOrder &) = delete;
  WithOrder &operator=(const WithOrder &) = delete;

private:
  void set(const std::string &order) {
    void *function = nullptr;
    EXPECT_EQ(cuGetProcAddress("tenonEmulatorSetOrder", &function, 13000, 0, nullptr), CUDA_SUCCESS);
    EXPECT_TRUE(reinterpret_cast<bool (*)(const char *)>(function)(order.c_str())) << order;
  }
};

/// Launches the only kernel `k` of a module with device pointers as parameters. Returns what synchronising says.
inline CUresult run(const std::string &ptx, const std::vector<CUdeviceptr> &pointers, unsigned blocks = 1,
                    unsigned threads = 32, unsigned shared = 0) {
  Loaded loaded = load(ptx);
  EXPECT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  if (loaded.result != CUDA_SUCCESS)
    return loaded.result;
  CUfunction function;
  EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  std::vector<void *> parameters;
  for (const CUdeviceptr &pointer : pointers)
    parameters.push_back(const_cast<CUdeviceptr *>(&pointer));
  CUresult result = cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, nullptr, parameters.data(), nullptr);
  if (result == CUDA_SUCCESS)
    result = cuCtxSynchronize();
  if (result == CUDA_SUCCESS)
    cuModuleUnload(loaded.module);
  return result;
}

} // namespace tenon::emulator::test
