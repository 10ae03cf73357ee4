// The same in C++20: handles release themselves, errors are exceptions.
#include <cstdio>
#include <tenon/runtime.hpp>

int main() try {
  const std::vector<float> x = {1, 2, 3, 4}, y = {10, 20, 30, 40};
  auto device = tenon::Device::open();
  auto kernels = device.openExecutable("kernels.tnx");
  auto from = device.upload(std::span(x)), to = device.upload(std::span(y));
  kernels.launch("saxpy", {1, 1, 1}, {from, to}, {tenon::word(2.0f), tenon::word(4)});
  for (float value : to.download<float>())
    std::printf("%g ", value);
  std::printf("\n");
} catch (const tenon::Error &error) {
  std::fprintf(stderr, "%s: %s\n", error.codeName(), error.what());
  return 1;
}
