// Records what tensor loads leave in shared memory: one file of 8192 bytes for each case of hopper_cases.h.
//
//   TENON_CUDA_DRIVER=cuda TENON_KERNELS_DIR=... tenon-hopper-golden FOLDER
//
// Without TENON_CUDA_DRIVER=cuda it records the emulator, to compare the two.
#include "tests/kernels/driver.h"
#include "tests/kernels/hopper_cases.h"

#include <cstdio>

using namespace tenon::kernels;

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
  printf("%zu cases from '%s' in %s\n", tensorCases().size(), d.deviceName.c_str(), argv[1]);
  return 0;
}
