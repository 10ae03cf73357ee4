// Records what tensor loads leave in shared memory: one file of 8192 bytes for each case of hopper_cases.h; and the
// sums of wgmma with numbers that do not add up exactly: sum_NAME.bin, 64 x 16 single-precision results.
//
//   TENON_CUDA_DRIVER=cuda TENON_KERNELS_DIR=... tenon-hopper-golden FOLDER
//
// Without TENON_CUDA_DRIVER=cuda it records the emulator, to compare the two.
#include "tests/kernels/driver.h"
#include "tests/kernels/hopper_cases.h"

#include <cstdio>

using namespace tenon::kernels;

namespace {

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

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: tenon-hopper-golden FOLDER\n");
    return 2;
  }
  const Driver &d = driver();
  if (!d.error.empty() || d.capability != 90) {
    fprintf(stderr, "no device of compute capability 9.0: %s\n",
            d.error.empty() ? d.deviceName.c_str() : d.error.c_str());
    return 1;
  }
  auto check = [](CUresult result, const std::string &what) {
    if (result == CUDA_SUCCESS)
      return;
    fprintf(stderr, "%s: CUresult %d\n", what.c_str(), static_cast<int>(result));
    exit(1);
  };
  const char *folder = getenv("TENON_KERNELS_DIR");
  std::ifstream in((folder ? std::string(folder) : ownFolder()) + "/hopper_sm_90a.ptx");
  std::stringstream text;
  text << in.rdbuf();
  CUmodule module;
  CUfunction kernel;
  check(d.cuModuleLoadData_(&module, text.str().c_str()), "hopper_sm_90a.ptx");
  check(d.cuModuleGetFunction_(&kernel, module, "tensor_dump"), "tensor_dump");
  CUdeviceptr tensor, out;
  check(d.cuMemAlloc_(&tensor, kTensorRowBytes * kTensorRows), "cuMemAlloc");
  check(d.cuMemAlloc_(&out, kDumpBytes), "cuMemAlloc");
  for (const TensorCase &c : tensorCases()) {
    std::vector<uint8_t> bytes = tensorBytes(c), dump(kDumpBytes);
    check(d.cuMemcpyHtoD_(tensor, bytes.data(), bytes.size()), "cuMemcpyHtoD");
    CUtensorMap map;
    check(encodeCase(d.cuTensorMapEncodeTiled_, c, tensor, &map), std::string(c.name) + ": cuTensorMapEncodeTiled");
    int boxBytes = static_cast<int>(c.bytes()), dumpBytes = kDumpBytes, x = c.x, y = c.y;
    void *parameters[] = {&map, &out, &boxBytes, &dumpBytes, &x, &y};
    check(d.cuLaunchKernel_(kernel, 1, 1, 1, 128, 1, 1, kDumpBytes, nullptr, parameters, nullptr), c.name);
    check(d.cuCtxSynchronize_(), c.name);
    check(d.cuMemcpyDtoH_(dump.data(), out, kDumpBytes), c.name);
    std::ofstream file(std::string(argv[1]) + "/" + c.name + ".bin", std::ios::binary);
    file.write(reinterpret_cast<const char *>(dump.data()), kDumpBytes);
    if (!file) {
      fprintf(stderr, "cannot write %s/%s.bin\n", argv[1], c.name);
      return 1;
    }
  }
  for (const SumCase &c : kSums) {
    check(d.cuModuleGetFunction_(&kernel, module, c.kernel), c.kernel);
    Array<uint8_t> a(numbers(c.bits, c.mantissaA, c.spread, 1)), b(numbers(c.bits, c.mantissaB, c.spread, 2));
    std::vector<float> start(64 * 16);
    Random random(3);
    for (float &value : start)
      value = static_cast<float>(random.real(-100, 100));
    Array<float> sums(start);
    // Swizzle of 128 bytes, groups of eight rows 1024 bytes apart.
    uint64_t layout = 1ull << 16 | 64ull << 32 | 1ull << 62;
    int offset = 0, accumulate = 1;
    void *parameters[] = {&a.address, &b.address, &layout, &layout, &offset, &sums.address, &accumulate};
    check(d.cuLaunchKernel_(kernel, 1, 1, 1, 128, 1, 1, 16384, nullptr, parameters, nullptr), c.kernel);
    check(d.cuCtxSynchronize_(), c.kernel);
    std::vector<float> got = sums.read();
    std::ofstream file(std::string(argv[1]) + "/sum_" + c.kernel + ".bin", std::ios::binary);
    file.write(reinterpret_cast<const char *>(got.data()), static_cast<std::streamsize>(got.size() * 4));
    if (!file) {
      fprintf(stderr, "cannot write %s/sum_%s.bin\n", argv[1], c.kernel);
      return 1;
    }
  }
  printf("%zu cases from '%s' in %s\n", tensorCases().size() + std::size(kSums), d.deviceName.c_str(), argv[1]);
  return 0;
}
