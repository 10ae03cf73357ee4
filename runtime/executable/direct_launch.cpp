// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an export and its arguments. Out: one driver call, or what is wrong with them.
#include "runtime/executable/direct_launch.h"

#include "runtime/device/device.h"
#include "runtime/device/stream_capture.h"
#include "runtime/device/stream_commands.h"
#include "runtime/device/stream_trace.h"
#include "runtime/executable/argument_packer.h"
#include "runtime/memory/buffer.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

// Arguments up to these sizes lie on the stack.
constexpr size_t kMostBytes = 512, kMostParameters = 48, kMostBindings = 32;

Status wrongCount(const abi::Export &declaration, const abi::ParameterLayout &layout, size_t bindings, size_t words) {
  return makeError(StatusCode::InvalidArgument, "export '", declaration.name, "' takes ", layout.bindings,
                   layout.bindings == 1 ? " buffer" : " buffers", " and ", layout.words,
                   layout.words == 1 ? " word" : " words", " of constants (", declaration.layout.toString(), "), ",
                   bindings, " and ", words, " were given");
}

Status checkAlignment(const abi::Export &declaration, std::span<const DeviceRange> ranges) {
  for (size_t i = 0; i < ranges.size(); ++i)
    if (const uint32_t alignment = declaration.layout.bindings[i].alignment;
        alignment > 1 && ranges[i].address % alignment != 0)
      return makeError(StatusCode::InvalidArgument, "export '", declaration.name, "': binding ", i, " is at address ",
                       ranges[i].address, ", which is no multiple of ", alignment, ", its declared alignment");
  return okStatus();
}

/// A launch and its time, of which the caller's own capture knows nothing.
template <typename Launch>
Status launchTraced(Device &device, const LoadedExport &loaded, const std::array<uint32_t, 3> &grid, CUstream stream,
                    Launch launch) {
  TENON_ASSIGN_OR_RETURN(const bool isCaptured, isCapturing(device.driver(), stream));
  HostSpan span(device.trace(), "call", "launch", loaded.declaration->name);
  if (isCaptured)
    return launch();
  StreamTrace trace(device, stream);
  Status status = launch();
  if (!status.ok())
    return status;
  trace.command(loaded.declaration->name, "dispatch",
                {{"variant", loaded.variantName},
                 {"kernel", loaded.symbol},
                 {"grid", concat(grid[0], " x ", grid[1], " x ", grid[2])}});
  trace.finish();
  return status;
}

} // namespace

Status checkBindings(const Executable &executable, const abi::Export &declaration,
                     std::span<const Buffer *const> buffers) {
  const auto &bindings = declaration.layout.bindings;
  for (size_t i = 0; i < std::min(buffers.size(), bindings.size()); ++i) {
    const Buffer &buffer = *buffers[i];
    auto fail = [&](StatusCode code, auto... words) {
      return makeError(code, "export '", declaration.name, "': binding ", i, " is ", words...);
    };
    if (&buffer.device() != &executable.device())
      return fail(StatusCode::InvalidArgument, "a buffer of another device, ", buffer.device().description());
    if (buffer.isRetired() || (buffer.isLate() && buffer.address() == 0))
      return fail(StatusCode::FailedPrecondition, "a buffer ",
                  buffer.isRetired() ? "that was deallocated" : "whose memory is not there yet");
    if (!(buffer.options().usage & kUsageDispatch))
      return fail(StatusCode::FailedPrecondition, "a buffer for ", usageNames(buffer.options().usage),
                  ", not for dispatches");
    const uint32_t access = bindings[i].readOnly ? kAccessRead : kAccessAll;
    if ((buffer.options().access & access) != access)
      return fail(StatusCode::FailedPrecondition, bindings[i].readOnly ? "read" : "written", ", the buffer is ",
                  buffer.options().access == kAccessRead ? "read only" : "write only");
  }
  return okStatus();
}

Status launchExport(Executable &executable, uint32_t ordinal, const std::array<uint32_t, 3> &grid,
                    std::span<const DeviceRange> ranges, std::span<const uint64_t> words, CUstream stream) {
  Device &device = executable.device();
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_ASSIGN_OR_RETURN(const LoadedExport *loaded, executable.load(ordinal));
  const abi::Export &declaration = *loaded->declaration;
  const abi::ParameterLayout &layout = loaded->parameters;
  if (ranges.size() != layout.bindings || words.size() != layout.words)
    return wrongCount(declaration, layout, ranges.size(), words.size());
  TENON_RETURN_IF_ERROR(checkAlignment(declaration, ranges));
  if (Status inside = checkGrid(grid); !inside.ok())
    return std::move(inside).withContext(concat("export '", declaration.name, "'"));
  if (std::count(grid.begin(), grid.end(), 0u) != 0)
    return okStatus();

  auto launchNow = [&](void **parameters) {
    return launchOnStream(device.driver(), stream, loaded->function, grid, loaded->launch, parameters);
  };
  auto launch = [&](void **parameters) {
    Status status = device.trace() ? launchTraced(device, *loaded, grid, stream, [&] { return launchNow(parameters); })
                                   : launchNow(parameters);
    if (status.ok())
      device.countLaunch();
    else
      device.rememberFault(status);
    return status.ok() ? okStatus() : std::move(status).withContext(concat("export '", declaration.name, "'"));
  };
  if (layout.bytes > kMostBytes || layout.parameters.size() > kMostParameters || ranges.size() > kMostBindings ||
      !layout.tensorMaps.empty()) {
    TENON_ASSIGN_OR_RETURN(ArgumentPack pack, ArgumentPack::pack(layout, loaded->encodeTensorMap, ranges, words));
    return launch(pack.kernelParameters());
  }
  alignas(64) uint8_t block[kMostBytes];
  uint64_t addresses[kMostBindings];
  void *parameters[kMostParameters];
  for (size_t i = 0; i < ranges.size(); ++i)
    addresses[i] = ranges[i].address;
  TENON_RETURN_IF_ERROR(abi::packParameters(layout, addresses, ranges.size(), words.data(), words.size(), block, //
                                            sizeof(block)));
  for (size_t i = 0; i < layout.parameters.size(); ++i)
    parameters[i] = block + layout.parameters[i].offset;
  return launch(parameters);
}

} // namespace tenon::runtime
