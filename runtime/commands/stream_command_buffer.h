// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A command buffer that issues its commands one by one on a stream, which keeps their order: barriers and events cost
// nothing. The arguments of dispatches without slots are packed once, when the recording ends.
//
// An indirect dispatch waits for the stream and reads its grid on the host before it launches. That makes its
// submission wait on the queue's worker thread.
#pragma once

#include "runtime/commands/command_buffer.h"
#include "runtime/executable/argument_packer.h"

#include <optional>

namespace tenon::runtime {

class StreamCommandBuffer : public CommandBuffer {
public:
  static std::shared_ptr<StreamCommandBuffer> create(std::shared_ptr<Device> device,
                                                     const CommandBufferOptions &options = {}) {
    return std::shared_ptr<StreamCommandBuffer>(new StreamCommandBuffer(std::move(device), options));
  }

protected:
  StreamCommandBuffer(std::shared_ptr<Device> device, const CommandBufferOptions &options)
      : CommandBuffer(std::move(device), options) {}
  Status prepare() override;
  Status issueCommands(CUstream stream, BindingTable table) override;
  Status issueTraced(CUstream stream, BindingTable table, StreamTrace &trace) override;
  /// Commands [begin, end) onto a stream; a failure names the command.
  Status issueRange(size_t begin, size_t end, CUstream stream, BindingTable table);
  /// The arguments of a dispatch: set, but for those with slots.
  ArgumentPack &arguments(size_t command) { return *packed_[command]; }

private:
  Status issueTimed(size_t index, CUstream stream, BindingTable table);
  Status issueCommand(size_t index, CUstream stream, BindingTable table);
  Status issueFill(const FillCommand &fill, CUstream stream, BindingTable table);
  Status issueUpdate(const UpdateCommand &update, CUstream stream, BindingTable table);
  Status issueDispatch(const DispatchCommand &dispatch, size_t index, CUstream stream, BindingTable table);
  Result<std::array<uint32_t, 3>> readGrid(const DispatchCommand &dispatch, CUstream stream, BindingTable table);

  std::vector<std::optional<ArgumentPack>> packed_; // [commands] of dispatches; with slots, set when they are issued
  std::vector<DeviceRange> bindings_;               // of the dispatch that is being issued
};

} // namespace tenon::runtime
