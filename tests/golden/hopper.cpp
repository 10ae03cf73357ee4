// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/golden/hopper.h"

#include "tests/kernels/driver.h"
#include "tests/kernels/hopper_cases.h"

namespace tenon::golden {
namespace {

using namespace kernels;

const std::string kPrefix = "hopper ";

/// 8 KiB of finite numbers of `bits` bits, of which `mantissa` are stored, with exponents `spread` wide around 1.
std::vector<uint8_t> numbers(uint32_t bits, uint32_t mantissa, uint32_t spread, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> out(8192);
  uint32_t unused = bits == 32 ? 13 : 0, bias = bits == 32 ? 127 : (1u << (bits - mantissa - 2)) - 1;
  for (size_t k = 0; k < out.size(); k += bits / 8) {
    uint32_t exponent = bias - spread / 2 + random.next() % spread;
    uint32_t value = (random.next() & 1) << (bits - 1) | exponent << (mantissa + unused) |
                     (random.next() & ((1u << mantissa) - 1)) << unused;
    memcpy(&out[k], &value, bits / 8);
  }
  return out;
}

struct SumCase {
  const char *kernel;
  uint32_t bits, mantissaA, mantissaB, spread;
};
const SumCase kSums[] = {{"wgmma_f16", 16, 10, 10, 16}, {"wgmma_tf32", 32, 10, 10, 24}, {"wgmma_fp8", 8, 3, 2, 8}};

/// The module with the kernels, loaded once.
std::string kernel(const char *name, CUfunction &function) {
  static CUmodule module = nullptr;
  if (!module) {
    const char *folder = getenv("TENON_KERNELS_DIR");
    const std::string path = (folder ? std::string(folder) : ownFolder()) + "/hopper_sm_90a.ptx";
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    if (!in)
      return "no " + path + ": nvcc was not found when this was built";
    if (CUresult result = driver().cuModuleLoadData_(&module, text.str().c_str()))
      return path + ": CUresult " + std::to_string(result);
  }
  CUresult result = driver().cuModuleGetFunction_(&function, module, name);
  return result ? std::string(name) + ": CUresult " + std::to_string(result) : "";
}

std::string launch(CUfunction function, unsigned shared, void **parameters) {
  CUresult result = driver().cuLaunchKernel_(function, 1, 1, 1, 128, 1, 1, shared, nullptr, parameters, nullptr);
  if (result == CUDA_SUCCESS)
    result = driver().cuCtxSynchronize_();
  return result ? "CUresult " + std::to_string(result) : "";
}

std::string runTensorCase(const TensorCase &c, Recorded &recorded) {
  CUfunction function = nullptr;
  if (std::string error = kernel("tensor_dump", function); !error.empty())
    return error;
  std::vector<uint8_t> bytes = tensorBytes(c);
  const int question[] = {static_cast<int>(c.type),
                          static_cast<int>(c.swizzle),
                          static_cast<int>(c.boxX),
                          static_cast<int>(c.boxY),
                          c.x,
                          c.y,
                          static_cast<int>(c.fill),
                          static_cast<int>(c.stepY)};
  recorded.question = hashOf(question, sizeof question, hashOf(bytes.data(), bytes.size()));
  Array<uint8_t> tensor(bytes), out(kDumpBytes);
  CUtensorMap map;
  if (CUresult result = encodeCase(driver().cuTensorMapEncodeTiled_, c, tensor.address, &map))
    return "cuTensorMapEncodeTiled: CUresult " + std::to_string(result);
  int boxBytes = static_cast<int>(c.bytes()), dumpBytes = kDumpBytes, x = c.x, y = c.y;
  void *parameters[] = {&map, &out.address, &boxBytes, &dumpBytes, &x, &y};
  std::string error = launch(function, kDumpBytes, parameters);
  recorded.bytes = out.read();
  return error;
}

std::string runSumCase(const SumCase &c, Recorded &recorded) {
  CUfunction function = nullptr;
  if (std::string error = kernel(c.kernel, function); !error.empty())
    return error;
  std::vector<uint8_t> left = numbers(c.bits, c.mantissaA, c.spread, 1),
                       right = numbers(c.bits, c.mantissaB, c.spread, 2);
  recorded.question = hashOf(left.data(), left.size(), hashOf(right.data(), right.size()));
  Array<uint8_t> a(left), b(right);
  std::vector<float> start(64 * 16);
  Random random(3);
  for (float &value : start)
    value = static_cast<float>(random.real(-100, 100));
  Array<float> sums(start);
  // Swizzle of 128 bytes, groups of eight rows 1024 bytes apart.
  uint64_t layout = 1ull << 16 | 64ull << 32 | 1ull << 62;
  int offset = 0, accumulate = 1;
  void *parameters[] = {&a.address, &b.address, &layout, &layout, &offset, &sums.address, &accumulate};
  std::string error = launch(function, 16384, parameters);
  std::vector<float> got = sums.read();
  recorded.bytes.resize(got.size() * 4);
  memcpy(recorded.bytes.data(), got.data(), recorded.bytes.size());
  return error;
}

} // namespace

std::vector<std::string> hopperEntries() {
  std::vector<std::string> names;
  for (const TensorCase &c : tensorCases())
    names.push_back(kPrefix + c.name);
  for (const SumCase &c : kSums)
    names.push_back(kPrefix + "sum_" + c.kernel);
  return names;
}

bool isApproximateHopper(const std::string &entry) {
  return entry == kPrefix + "sum_wgmma_fp8";
}

std::string runHopper(const std::string &entry, Recorded &recorded) {
  for (const TensorCase &c : tensorCases())
    if (entry == kPrefix + c.name)
      return runTensorCase(c, recorded);
  for (const SumCase &c : kSums)
    if (entry == kPrefix + "sum_" + c.kernel)
      return runSumCase(c, recorded);
  return "no such entry";
}

} // namespace tenon::golden
