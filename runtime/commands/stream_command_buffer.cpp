// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a checked list of commands to driver calls on one stream.
#include "runtime/commands/stream_command_buffer.h"

#include "runtime/commands/command_buffer_validator.h"
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/device/nvtx.h"
#include "runtime/device/stream_trace.h"

#include <algorithm>

namespace tenon::runtime {

Status StreamCommandBuffer::prepare() {
  // A driver encodes tensor maps in a context only.
  cuda::ContextScope scope = device().enter();
  TENON_RETURN_IF_ERROR(scope.status());
  packed_.resize(commands().size());
  for (size_t i = 0; i < commands().size(); ++i) {
    const auto *dispatch = std::get_if<DispatchCommand>(&commands()[i]);
    if (!dispatch)
      continue;
    packed_[i].emplace(dispatch->loaded->parameters, dispatch->loaded->encodeTensorMap);
    if (hasSlots(commands()[i]))
      continue;
    resolveBindings(*dispatch, {}, bindings_);
    TENON_RETURN_IF_ERROR(packed_[i]->set(bindings_, dispatch->constants));
  }
  return okStatus();
}

Status StreamCommandBuffer::issueCommands(CUstream stream, BindingTable table) {
  return issueRange(0, commands().size(), stream, table);
}

Status StreamCommandBuffer::issueRange(size_t begin, size_t end, CUstream stream, BindingTable table) {
  for (size_t i = begin; i < end; ++i) {
    Status status = times() ? issueTimed(i, stream, table) : issueCommand(i, stream, table);
    if (!status.ok())
      return std::move(status).withContext(concat("command ", i, " (", describeCommand(commands()[i]), ")"));
  }
  return okStatus();
}

Status StreamCommandBuffer::issueTraced(CUstream stream, BindingTable table, StreamTrace &trace) {
  for (size_t i = 0; i < commands().size(); ++i) {
    TENON_RETURN_IF_ERROR(issueRange(i, i + 1, stream, table));
    const RecordedCommand &command = commands()[i];
    Trace::Details details = {{"command", concat(i, " (", describeCommand(command), ")")}};
    if (const auto *dispatch = std::get_if<DispatchCommand>(&command)) {
      if (!dispatch->isIndirect && std::count(dispatch->grid.begin(), dispatch->grid.end(), 0u) != 0)
        continue; // nothing was launched
      details.emplace_back("variant", dispatch->loaded->variantName);
      details.emplace_back("kernel", dispatch->loaded->symbol);
      trace.command(dispatch->loaded->declaration->name, "dispatch", std::move(details));
    } else if (!std::holds_alternative<BarrierCommand>(command) && !std::holds_alternative<EventCommand>(command)) {
      trace.command(describeCommand(command), describeCommand(command), std::move(details));
    }
  }
  return okStatus();
}

Status StreamCommandBuffer::issueTimed(size_t index, CUstream stream, BindingTable table) {
  ProfileEvent event = profileOf(commands()[index]);
  if (event.kind == ProfileKind::Commands || !times()->wants(event.kind, event.name))
    return issueCommand(index, stream, table);
  event.command = static_cast<uint32_t>(index);
  times()->begin();
  TENON_RETURN_IF_ERROR(issueCommand(index, stream, table));
  times()->end(std::move(event));
  return okStatus();
}

Status StreamCommandBuffer::issueCommand(size_t index, CUstream stream, BindingTable table) {
  const RecordedCommand &command = commands()[index];
  if (const auto *dispatch = std::get_if<DispatchCommand>(&command))
    return issueDispatch(*dispatch, index, stream, table);
  if (const auto *fill = std::get_if<FillCommand>(&command))
    return issueFill(*fill, stream, table);
  if (const auto *update = std::get_if<UpdateCommand>(&command))
    return issueUpdate(*update, stream, table);
  if (const auto *copy = std::get_if<CopyCommand>(&command))
    return copyOnStream(device().driver(), stream, resolve(copy->source, table), resolve(copy->target, table));
  return okStatus(); // barriers and events: the stream keeps the order
}

Status StreamCommandBuffer::issueFill(const FillCommand &fill, CUstream stream, BindingTable table) {
  return fillOnStream(device().driver(), stream, resolve(fill.target, table), fill.pattern, fill.patternBytes);
}

Status StreamCommandBuffer::issueUpdate(const UpdateCommand &update, CUstream stream, BindingTable table) {
  if (update.bytes.empty())
    return okStatus();
  const cuda::Driver &driver = device().driver();
  const uint64_t address = resolve(update.target, table).address;
  return cuda::driverStatus(driver,
                            driver.cuMemcpyHtoDAsync_v2(address, update.bytes.data(), update.bytes.size(), stream),
                            concat("cuMemcpyHtoDAsync_v2 of ", update.bytes.size(), " bytes"));
}

Result<std::array<uint32_t, 3>> StreamCommandBuffer::readGrid(const DispatchCommand &dispatch, CUstream stream,
                                                              BindingTable table) {
  const cuda::Driver &driver = device().driver();
  std::array<uint32_t, 3> grid = {};
  const uint64_t address = resolve(dispatch.gridBuffer, table).address;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      driver, driver.cuMemcpyDtoHAsync_v2(grid.data(), address, sizeof(grid), stream), "cuMemcpyDtoHAsync_v2"));
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuStreamSynchronize(stream), "cuStreamSynchronize"));
  TENON_RETURN_IF_ERROR(checkGrid(grid));
  return grid;
}

Status StreamCommandBuffer::issueDispatch(const DispatchCommand &dispatch, size_t index, CUstream stream,
                                          BindingTable table) {
  std::array<uint32_t, 3> grid = dispatch.grid;
  if (dispatch.isIndirect) {
    TENON_ASSIGN_OR_RETURN(grid, readGrid(dispatch, stream, table));
  }
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return okStatus(); // which a launch would refuse
  if (hasSlots(commands()[index])) {
    resolveBindings(dispatch, table, bindings_);
    TENON_RETURN_IF_ERROR(arguments(index).set(bindings_, dispatch.constants));
  }
  const NvtxRange range({}, dispatch.loaded->declaration->name);
  device().countLaunch();
  return launchOnStream(device().driver(), stream, dispatch.loaded->function, dispatch.loaded->gridFor(grid),
                        dispatch.loaded->launch, arguments(index).kernelParameters());
}

} // namespace tenon::runtime
