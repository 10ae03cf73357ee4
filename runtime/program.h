// A program on a device: functions that take and return values. This is the first file to read: Program::call below is
// the road of a call from inputs to outputs.
//
// A function is data (abi/schemas/program.fbs): a register program for shapes and scalars, checks, buffers, commands
// and results. Nothing is compiled here. Calls may come from several threads; each is complete when it returns.
#pragma once

#include "abi/program_view.h"
#include "runtime/executable.h"
#include "runtime/value.h"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

class Device;

struct CallOptions {
  /// Waits after every command, so that a fault names the very command; slower.
  bool synchronous = false;
};

class Program {
public:
  /// Verifies `bytes` (borrowed, 16-byte aligned, outlive the program) and uploads its constants. Kernels are loaded by
  /// the first call that needs them. DataLoss: the bytes do not verify; `name` is the file for messages.
  static Result<std::unique_ptr<Program>> load(std::shared_ptr<Device> device, std::span<const uint8_t> bytes,
                                               std::string_view name);

  Device &device() const { return *device_; }
  const abi::ProgramView &view() const { return view_; }
  const abi::fb::Function &function(uint32_t index) const { return view_.functionAt(index); }

  /// The function's index. Empty `name`: the only function there is; InvalidArgument lists them where there are
  /// several.
  Result<uint32_t> findFunction(std::string_view name) const;

  /// What call() checks first: count, element types, ranks and static extents. InvalidArgument names the first input
  /// that differs.
  Status checkInputs(uint32_t function, std::span<const Value> inputs);

  /// Runs a function to its end.
  /// @param inputs [inputs of the function] types as declared; tensors are read, never written
  /// @return [results]. InvalidArgument: count, element type, rank or a static extent differs, or a check of the
  ///         function failed: nothing was launched. Else errors of registers, loading, memory and launches; the work of
  ///         a dispatch that failed on the device is named by its export and location.
  Result<std::vector<Value>> call(uint32_t function, std::span<const Value> inputs, const CallOptions &options = {});

  /// `--explain`: for every executable and export, each image, chosen or refused and why, and what really runs.
  std::string explain();

private:
  friend class Call;
  Program(std::shared_ptr<Device> device, abi::ProgramView view) : device_(std::move(device)), view_(std::move(view)) {}
  Status uploadConstants(std::span<const uint8_t> file);

  std::shared_ptr<Device> device_;
  abi::ProgramView view_;
  std::vector<std::unique_ptr<Executable>> executables_;
  std::vector<std::shared_ptr<const Buffer>> constants_;
};

} // namespace tenon::runtime
