// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA driver, found and opened at run time: no CUDA library is linked. Its functions are in driver_table.h.
//
//   --device=cuda       libcuda.so.1, then libcuda.so
//   --device=emulator   what $TENON_EMULATOR_LIBRARY names; where it is not set, libtenon_emulator.so beside the tool
//   or
//                       libtenon_runtime.so, where both were installed (lib/x86_64-linux-gnu), in a build tree its own,
//                       and where the loader looks; never beside the user's program or in the current folder
//   no --device         the GPU where libcuda.so.1 loads, cuInit succeeds and a device exists; else the emulator, said
//                       in one line (Driver::notice)
//   TENON_CUDA_DRIVER   `emulator` or a library's path serves every device name, so that a test written for a GPU runs
//                       anywhere; `cuda` forbids the fall-back to the emulator
#pragma once

#include "runtime/cuda/driver_table.h"
#include "support/result.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime::cuda {

enum class DriverKind : uint8_t { Any, Cuda, Emulator };

/// What `--device=` names.
struct DeviceSelector {
  DriverKind kind = DriverKind::Any;
  int ordinal = 0;

  /// "", "cuda", "cuda:1", "cuda://1", "emulator", "emulator:0". InvalidArgument lists these forms.
  static Result<DeviceSelector> parse(std::string_view text);
};

/// Where a search looks, as values, so that a test states them all. Empty strings are "not set".
struct DriverSearch {
  std::string driverVariable;   // TENON_CUDA_DRIVER
  std::string emulatorVariable; // TENON_EMULATOR_LIBRARY
  std::string ownFolder;        // of the file that this code is loaded from: a tool, or libtenon_runtime.so
  std::vector<std::string> cudaLibraries = {"libcuda.so.1", "libcuda.so"};

  /// From the environment and /proc/self/maps.
  static DriverSearch fromEnvironment();
  /// The paths of the emulator, in the order they are tried. Where the variable is set, it alone.
  std::vector<std::string> emulatorLibraries() const;
};

class Driver : public DriverTable {
public:
  /// Loads the driver that serves `selector` and calls cuInit.
  /// Unavailable: lists every path tried with the loader's reason, or says what cuInit answered.
  static Result<std::unique_ptr<Driver>> open(const DeviceSelector &selector, const DriverSearch &search);
  /// Loads the first of `paths` that opens and has every required symbol, and calls cuInit.
  static Result<std::unique_ptr<Driver>> openFirst(const std::vector<std::string> &paths, std::string_view what);

  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;

  /// One line for the user's stderr where the choice is not the obvious one; else empty.
  const std::string &notice() const { return notice_; }
  /// As cuDriverGetVersion: 13000 is 13.0.
  int version() const { return version_; }
  /// Number of devices.
  Result<int> deviceCount() const;

private:
  Driver() = default;
  Status resolveSymbols(void *library);
  Status initialize();

  std::string notice_;
  int version_ = 0;
};

} // namespace tenon::runtime::cuda
