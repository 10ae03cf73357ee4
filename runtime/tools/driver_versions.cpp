// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/driver_versions.h"

#include <algorithm>
#include <unistd.h>

namespace tenon::runtime {

std::string driverVersions(const cuda::DriverSearch &search) {
  std::string lines;
  Result<std::unique_ptr<cuda::Driver>> driver = cuda::Driver::openFirst(search.cudaLibraries, "the CUDA driver");
  if (driver.ok()) {
    const int version = (*driver)->version();
    lines += concat("CUDA driver ", version / 1000, ".", version % 1000 / 10, "\n");
  } else {
    const std::string_view why = driver.status().message();
    lines += concat("CUDA driver: none, ", why.substr(0, std::min(why.find('\n'), why.find("; tried"))), "\n");
  }
  for (const std::string &path : search.emulatorLibraries())
    if (::access(path.c_str(), R_OK) == 0)
      return lines + concat("emulator: ", path, "\n");
  return lines + "emulator: none found\n";
}

} // namespace tenon::runtime
