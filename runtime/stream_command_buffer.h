// A command buffer that issues its commands one by one on a stream, which keeps their order: barriers and events cost
// nothing. The arguments of dispatches without slots are packed once, when the recording ends.
//
// An indirect dispatch waits for the stream and reads its grid on the host before it launches. That makes its
// submission wait on the queue's worker thread.
#pragma once

#include "runtime/argument_packer.h"
#include "runtime/command_buffer.h"

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
  /// One command onto a stream.
  Status issueCommand(size_t index, CUstream stream, BindingTable table);

private:
  Status issueFill(const FillCommand &fill, CUstream stream, BindingTable table);
  Status issueUpdate(const UpdateCommand &update, CUstream stream, BindingTable table);
  Status issueDispatch(const DispatchCommand &dispatch, size_t index, CUstream stream, BindingTable table);
  Result<std::array<uint32_t, 3>> readGrid(const DispatchCommand &dispatch, CUstream stream, BindingTable table);

  std::vector<std::optional<ArgumentPack>> packed_; // [commands] dispatches whose buffers are all known
};

/// The arguments of a dispatch with its slots bound. Errors of ArgumentPack::pack.
Result<ArgumentPack> packArguments(const DispatchCommand &dispatch, std::span<const DeviceRange> bindings);

} // namespace tenon::runtime
