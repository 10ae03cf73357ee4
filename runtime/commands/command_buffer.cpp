// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The front: each command is checked, then kept. In: calls of a user. Out: a list that an implementation turns into
// work.
#include "runtime/commands/command_buffer.h"

#include "runtime/device/device.h"
#include "runtime/device/nvtx.h"
#include "runtime/device/stream_trace.h"

#include <algorithm>

namespace tenon::runtime {

CommandBuffer::CommandBuffer(std::shared_ptr<Device> device, const CommandBufferOptions &options)
    : device_(std::move(device)), options_(options), validator_(*device_, options) {}

CommandBuffer::~CommandBuffer() = default;

Status CommandBuffer::begin() {
  return validator_.begin();
}

Status CommandBuffer::end() {
  TENON_RETURN_IF_ERROR(validator_.end());
  for (const RecordedCommand &command : commands_)
    collectBuffers(command, buffers_);
  std::sort(buffers_.begin(), buffers_.end());
  buffers_.erase(std::unique(buffers_.begin(), buffers_.end()), buffers_.end());
  return prepare();
}

Status CommandBuffer::checkLive() const {
  for (const Buffer *buffer : buffers_)
    if (buffer->isRetired())
      return makeError(StatusCode::FailedPrecondition, "submit: the command buffer names a buffer of ", buffer->size(),
                       " bytes that was deallocated");
  return okStatus();
}

Status CommandBuffer::checkPresent(BindingTable table) const {
  auto check = [](const Buffer &buffer) {
    if (buffer.isLate() && buffer.address() == 0)
      return makeError(StatusCode::FailedPrecondition, "it uses a buffer of ", buffer.size(),
                       " bytes whose memory is not there yet: wait for the signals of its allocation");
    return okStatus();
  };
  for (const Buffer *buffer : buffers_)
    TENON_RETURN_IF_ERROR(check(*buffer));
  for (const TableEntry &entry : table)
    if (entry.buffer)
      TENON_RETURN_IF_ERROR(check(*entry.buffer));
  return okStatus();
}

Status CommandBuffer::record(RecordedCommand command) {
  TENON_RETURN_IF_ERROR(validator_.checkRecording());
  TENON_RETURN_IF_ERROR(std::visit([&](const auto &body) { return validator_.check(body); }, command));
  commands_.push_back(std::move(command));
  return okStatus();
}

Status CommandBuffer::fill(BufferRef target, uint32_t pattern, uint32_t patternBytes) {
  return record(FillCommand{std::move(target), pattern, patternBytes});
}

Status CommandBuffer::update(std::span<const uint8_t> bytes, BufferRef target) {
  if (bytes.size() > kMaxUpdateBytes) // refused without copying it
    return makeError(StatusCode::InvalidArgument, "update: ", bytes.size(), " bytes of inline data, at most ",
                     kMaxUpdateBytes, " are possible: use a copy");
  return record(UpdateCommand{std::move(target), {bytes.begin(), bytes.end()}});
}

Status CommandBuffer::copy(BufferRef source, BufferRef target) {
  return record(CopyCommand{std::move(source), std::move(target)});
}

Status CommandBuffer::recordDispatch(DispatchCommand command) {
  TENON_RETURN_IF_ERROR(validator_.checkRecording());
  if (!command.executable)
    return makeError(StatusCode::InvalidArgument, "dispatch: no executable");
  if (&command.executable->device() != device_.get())
    return makeError(StatusCode::FailedPrecondition, "dispatch: executable '", command.executable->view().name(),
                     "' is loaded on another device, ", command.executable->device().description());
  // Loaded while recording: not in the middle of a submission, and never while a stream is being captured.
  TENON_ASSIGN_OR_RETURN(command.loaded, command.executable->load(command.ordinal));
  return record(std::move(command));
}

Status CommandBuffer::dispatch(std::shared_ptr<Executable> executable, uint32_t ordinal, std::array<uint32_t, 3> grid,
                               DispatchArguments arguments) {
  DispatchCommand command;
  command.executable = std::move(executable);
  command.ordinal = ordinal;
  command.grid = grid;
  command.bindings = std::move(arguments.bindings);
  command.constants = std::move(arguments.constants);
  return recordDispatch(std::move(command));
}

Status CommandBuffer::dispatchIndirect(std::shared_ptr<Executable> executable, uint32_t ordinal, BufferRef grid,
                                       DispatchArguments arguments) {
  DispatchCommand command;
  command.executable = std::move(executable);
  command.ordinal = ordinal;
  command.gridBuffer = std::move(grid);
  command.isIndirect = true;
  command.bindings = std::move(arguments.bindings);
  command.constants = std::move(arguments.constants);
  return recordDispatch(std::move(command));
}

Status CommandBuffer::barrier() {
  return record(BarrierCommand{});
}
Status CommandBuffer::signalEvent(std::shared_ptr<Event> event) {
  return record(EventCommand{EventCommand::Kind::Signal, {std::move(event)}});
}
Status CommandBuffer::resetEvent(std::shared_ptr<Event> event) {
  return record(EventCommand{EventCommand::Kind::Reset, {std::move(event)}});
}
Status CommandBuffer::waitEvents(std::span<const std::shared_ptr<Event>> events) {
  return record(EventCommand{EventCommand::Kind::Wait, {events.begin(), events.end()}});
}

Status CommandBuffer::checkSubmission(BindingTable table) {
  TENON_RETURN_IF_ERROR(checkLive());
  return validator_.checkSubmission(table);
}

bool CommandBuffer::waitsOnHost() const {
  return std::any_of(commands_.begin(), commands_.end(), [](const RecordedCommand &command) {
    const auto *dispatch = std::get_if<DispatchCommand>(&command);
    return dispatch && dispatch->isIndirect;
  });
}

std::vector<std::string> CommandBuffer::dispatchNames() const {
  std::vector<std::string> names;
  for (const RecordedCommand &command : commands_)
    if (const auto *dispatch = std::get_if<DispatchCommand>(&command))
      names.push_back(dispatch->loaded->declaration->name);
  return names;
}

Status CommandBuffer::issue(CUstream stream, BindingTable table, StreamTimes *times) {
  std::lock_guard lock(issueMutex_);
  times_ = times;
  TENON_RETURN_IF_ERROR(checkLive()); // since it was submitted
  TENON_RETURN_IF_ERROR(checkPresent(table));
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const bool isNamed = device_->trace() || isNvtxAttached();
  HostSpan span(device_->trace(), "submission", "submit", isNamed ? nameList(dispatchNames()) : std::string());
  if (!device_->trace())
    return issueCommands(stream, table);
  StreamTrace trace(*device_, stream);
  Status status = trace.isActive() ? issueTraced(stream, table, trace) : issueCommands(stream, table);
  trace.finish();
  return status;
}

DeviceRange CommandBuffer::resolve(const BufferRef &ref, BindingTable table) {
  if (ref.buffer) {
    const uint64_t rest = ref.buffer->size() - ref.offset;
    return {ref.buffer->address() + ref.offset, ref.length == kWholeBuffer ? rest : ref.length};
  }
  const TableEntry &entry = table[ref.slot];
  const uint64_t available = entry.length == kWholeBuffer ? entry.buffer->size() - entry.offset : entry.length;
  return {entry.buffer->address() + entry.offset + ref.offset,
          ref.length == kWholeBuffer ? available - ref.offset : ref.length};
}

void CommandBuffer::resolveBindings(const DispatchCommand &dispatch, BindingTable table,
                                    std::vector<DeviceRange> &bindings) {
  bindings.clear();
  for (const BufferRef &ref : dispatch.bindings)
    bindings.push_back(resolve(ref, table));
}

} // namespace tenon::runtime
