// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device with the executable on it. A kernel that faults takes the context with it; when everyone in the process has
// closed what they had in it, the next use gets a fresh one where the driver can (the emulator can; a GPU's process
// often stays broken, which is then the result of what follows).
#pragma once

#include "runtime/device/device.h"
#include "runtime/executable/executable.h"

#include <memory>
#include <string>

namespace tenon::runtime {

struct SessionOptions {
  cuda::DeviceSelector device;
  ExecutableOptions executable;
};

class Session {
public:
  /// `bytes` are borrowed and outlive the session; `name` is the file for messages.
  static Result<std::unique_ptr<Session>> open(std::span<const uint8_t> bytes, std::string name,
                                               const SessionOptions &options);

  /// Valid until close().
  Device &device() const { return *device_; }
  const Executable &executable() const { return *executable_; }
  /// The kernel of an export, on a device that is opened again where it was closed. Errors of Device::open and
  /// Executable::load.
  Result<const LoadedExport *> load(uint32_t ordinal);
  /// What the emulator says of the last kernel that failed, without a line end; empty elsewhere.
  std::string faultReport() const;
  /// Gives everything back.
  void close();

private:
  Status ensureOpen();
  Session(std::span<const uint8_t> bytes, std::string name, const SessionOptions &options)
      : bytes_(bytes), name_(std::move(name)), options_(options) {}

  std::span<const uint8_t> bytes_;
  std::string name_;
  SessionOptions options_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<Executable> executable_;
};

} // namespace tenon::runtime
