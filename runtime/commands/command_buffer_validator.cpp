// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a command about to be recorded. Out: ok, or what is wrong with it; and what its slots will have to be.
#include "runtime/commands/command_buffer_validator.h"

#include "runtime/device/device.h"

#include <algorithm>

namespace tenon::runtime {

CommandBufferValidator::CommandBufferValidator(const Device &device, const CommandBufferOptions &options)
    : device_(device), options_(options), slots_(options.slotCount) {}

Status CommandBufferValidator::begin() {
  if (state_ != State::Initial)
    return makeError(StatusCode::FailedPrecondition, "begin: the command buffer was begun before");
  state_ = State::Recording;
  return okStatus();
}

Status CommandBufferValidator::checkRecording() const {
  switch (state_) {
  case State::Initial:
    return makeError(StatusCode::FailedPrecondition, "the command buffer is not recording: begin it first");
  case State::Recording:
    return okStatus();
  case State::Ready:
  case State::Submitted:
    return makeError(StatusCode::FailedPrecondition, "the command buffer is not recording: it was ended");
  }
  return makeError(StatusCode::Internal, "unknown state");
}

Status CommandBufferValidator::end() {
  TENON_RETURN_IF_ERROR(checkRecording());
  state_ = State::Ready;
  return okStatus();
}

Status CommandBufferValidator::checkBuffer(const Buffer &buffer, const Use &use) const {
  auto fail = [&](auto... words) {
    return makeError(StatusCode::FailedPrecondition, use.command, ": ", use.operand, " ", words...);
  };
  if (&buffer.device() != &device_)
    return fail("is a buffer of another device, ", buffer.device().description());
  if (buffer.isRetired())
    return fail("is a buffer that was deallocated");
  if ((buffer.options().usage & use.usage) != use.usage)
    return fail("needs a buffer of usage ", usageNames(use.usage), ", this one's is ",
                usageNames(buffer.options().usage));
  if ((buffer.options().access & use.access) != use.access)
    return fail("is ", use.access & kAccessWrite & ~buffer.options().access ? "written" : "read", ", the buffer is ",
                buffer.options().access == kAccessRead ? "read only" : "write only");
  return okStatus();
}

void CommandBufferValidator::require(const BufferRef &ref, const Use &use) {
  Requirement &slot = slots_[ref.slot];
  slot.used = true;
  slot.usage |= use.usage;
  slot.access |= use.access;
  slot.alignment = std::max(slot.alignment, use.alignment);
  const uint64_t bytes = ref.offset + (ref.length == kWholeBuffer ? use.minimumBytes : ref.length);
  if (bytes >= slot.bytes) {
    slot.bytes = bytes;
    slot.strictest = concat(use.operand, " of ", use.command);
  }
}

Status CommandBufferValidator::checkRef(const BufferRef &ref, const Use &use, uint64_t &length) {
  auto invalid = [&](auto... words) {
    return makeError(StatusCode::InvalidArgument, use.command, ": ", use.operand, " ", words...);
  };
  length = ref.length;
  if (ref.length != kWholeBuffer && ref.length + ref.offset < ref.offset)
    return makeError(StatusCode::OutOfRange, use.command, ": ", use.operand, ": ", ref.length, " bytes from byte ",
                     ref.offset, " pass the end of memory");
  if (!ref.buffer) {
    if (ref.slot >= slots_.size())
      return invalid("is slot ", ref.slot, ", the command buffer has ", slots_.size());
    if (ref.offset % use.alignment != 0)
      return invalid("is at byte ", ref.offset, ", expected a multiple of ", use.alignment);
  } else {
    const Buffer &buffer = *ref.buffer;
    TENON_RETURN_IF_ERROR(checkBuffer(buffer, use));
    if (ref.length == kWholeBuffer)
      length = buffer.size() - std::min(buffer.size(), ref.offset);
    Status inside = checkBufferRange(buffer.size(), ref.offset, length);
    if (!inside.ok())
      return std::move(inside).withContext(concat(use.command, ": ", use.operand));
    if ((buffer.addressOrAlignment() + ref.offset) % use.alignment != 0)
      return invalid("is at byte ", ref.offset, " (address ", buffer.addressOrAlignment() + ref.offset,
                     "), expected a multiple of ", use.alignment);
  }
  if (length != kWholeBuffer && length < use.minimumBytes)
    return invalid("has ", length, " bytes, expected ", use.minimumBytes, " or more");
  if (!ref.buffer)
    require(ref, use);
  return okStatus();
}

Status CommandBufferValidator::check(const FillCommand &command) {
  const uint32_t size = command.patternBytes;
  if (size != 1 && size != 2 && size != 4)
    return makeError(StatusCode::InvalidArgument, "fill: a pattern of ", size, " bytes; 1, 2 and 4 are possible");
  uint64_t length = 0;
  TENON_RETURN_IF_ERROR(
      checkRef(command.target, {"fill", "the target", kUsageTransferTarget, kAccessWrite, size}, length));
  if (length != kWholeBuffer && length % size != 0)
    return makeError(StatusCode::InvalidArgument, "fill: the target has ", length, " bytes, expected a multiple of ",
                     size, ", the pattern's size");
  return okStatus();
}

Status CommandBufferValidator::check(const UpdateCommand &command) {
  if (command.bytes.size() > kMaxUpdateBytes)
    return makeError(StatusCode::InvalidArgument, "update: ", command.bytes.size(), " bytes of inline data, at most ",
                     kMaxUpdateBytes, " are possible: use a copy");
  uint64_t length = 0;
  const uint64_t bytes = command.bytes.size();
  TENON_RETURN_IF_ERROR(
      checkRef(command.target, {"update", "the target", kUsageTransferTarget, kAccessWrite, 1, bytes}, length));
  if (command.target.length != kWholeBuffer && length != bytes)
    return makeError(StatusCode::InvalidArgument, "update: the target has ", length, " bytes, the data ", bytes);
  return okStatus();
}

Status CommandBufferValidator::check(const CopyCommand &command) {
  uint64_t from = 0, to = 0;
  TENON_RETURN_IF_ERROR(checkRef(command.source, {"copy", "the source", kUsageTransferSource, kAccessRead}, from));
  TENON_RETURN_IF_ERROR(checkRef(command.target, {"copy", "the target", kUsageTransferTarget, kAccessWrite}, to));
  if (from != kWholeBuffer && to != kWholeBuffer && from != to)
    return makeError(StatusCode::InvalidArgument, "copy: the source has ", from, " bytes, the target ", to);
  if (!command.source.buffer || !command.target.buffer)
    return okStatus(); // when it is issued
  const bool isSame = command.source.buffer == command.target.buffer;
  if (!isSame && (command.source.buffer->isLate() || command.target.buffer->isLate()))
    return okStatus(); // when it is issued
  const uint64_t source = (isSame ? 0 : command.source.buffer->address()) + command.source.offset;
  const uint64_t target = (isSame ? 0 : command.target.buffer->address()) + command.target.offset;
  if (source < target + to && target < source + from)
    return makeError(StatusCode::InvalidArgument, "copy: the ranges overlap: ", from, " bytes from bytes ",
                     command.source.offset, " and ", command.target.offset);
  return okStatus();
}

Status CommandBufferValidator::checkTransfer(const Device &device, std::string_view name, BufferRef &ref,
                                             uint32_t usage, uint32_t access) {
  if (!ref.buffer)
    return makeError(StatusCode::InvalidArgument, name, ": no buffer");
  CommandBufferValidator validator(device, {});
  uint64_t length = 0;
  TENON_RETURN_IF_ERROR(
      validator.checkRef(ref, {name, access == kAccessWrite ? "the target" : "the source", usage, access}, length));
  ref.length = length;
  return okStatus();
}

Status CommandBufferValidator::check(const DispatchCommand &command) {
  const abi::Export &declared = command.executable->exportAt(command.ordinal);
  const std::string name = concat("dispatch of '", declared.name, "'");
  const abi::Layout &layout = declared.layout;
  const uint32_t words = command.loaded->parameters.words;
  if (command.bindings.size() != layout.bindings.size() || command.constants.size() != words)
    return makeError(StatusCode::InvalidArgument, name, ": [K-7] ", command.bindings.size(), " bindings and ",
                     command.constants.size(), words == layout.constants.size() ? " constants" : " words of constants",
                     ", the layout declares ", layout.toString(),
                     words == layout.constants.size() ? std::string() : concat(", ", words, " words"));
  if (!command.isIndirect)
    TENON_RETURN_IF_ERROR(checkGrid(command.grid).withContext(name));
  uint64_t length = 0;
  if (command.isIndirect)
    TENON_RETURN_IF_ERROR(checkRef(command.gridBuffer, {name, "the grid", kUsageIndirect, kAccessRead, 4, 12}, length));
  for (size_t i = 0; i < command.bindings.size(); ++i) {
    const abi::Binding &binding = layout.bindings[i];
    const uint32_t access = binding.readOnly ? kAccessRead : kAccessAll;
    TENON_RETURN_IF_ERROR(checkRef(
        command.bindings[i],
        {name, concat("binding ", i), kUsageDispatch, access, std::max(binding.alignment, uint32_t(1))}, length));
  }
  return okStatus();
}

Status CommandBufferValidator::check(const BarrierCommand &) {
  return okStatus();
}

Status CommandBufferValidator::check(const EventCommand &command) {
  for (const std::shared_ptr<Event> &event : command.events) {
    if (!event)
      return makeError(StatusCode::InvalidArgument, "an event is null");
    switch (command.kind) {
    case EventCommand::Kind::Signal:
      signalled_.insert(event.get());
      break;
    case EventCommand::Kind::Reset:
      signalled_.erase(event.get());
      break;
    case EventCommand::Kind::Wait:
      if (!signalled_.count(event.get()))
        return makeError(StatusCode::InvalidArgument, "wait: the event was not signalled in this command buffer");
      break;
    }
  }
  return okStatus();
}

Status CommandBufferValidator::checkSubmission(BindingTable table) {
  std::lock_guard lock(submissionMutex_);
  if (state_ == State::Initial || state_ == State::Recording)
    return makeError(StatusCode::FailedPrecondition, "submit: the command buffer was not ended");
  if (state_ == State::Submitted && options_.oneShot)
    return makeError(StatusCode::FailedPrecondition, "submit: a one-shot command buffer was submitted before");
  if (table.size() < slots_.size())
    return makeError(StatusCode::InvalidArgument, "submit: the binding table has ", table.size(),
                     " entries, the command buffer ", slots_.size(), " slots");
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Requirement &slot = slots_[i];
    if (!slot.used)
      continue;
    const TableEntry &entry = table[i];
    const std::string operand = concat("slot ", i);
    if (!entry.buffer)
      return makeError(StatusCode::InvalidArgument, "submit: ", operand, " is used and has no buffer");
    TENON_RETURN_IF_ERROR(checkBuffer(*entry.buffer, {"submit", operand, slot.usage, slot.access}));
    const uint64_t size = entry.buffer->size();
    const uint64_t length = entry.length == kWholeBuffer ? size - std::min(size, entry.offset) : entry.length;
    TENON_RETURN_IF_ERROR(checkBufferRange(size, entry.offset, length).withContext(concat("submit: ", operand)));
    if (length < slot.bytes)
      return makeError(StatusCode::OutOfRange, "submit: ", operand, " has ", length, " bytes, ", slot.strictest,
                       " needs ", slot.bytes);
    if ((entry.buffer->addressOrAlignment() + entry.offset) % slot.alignment != 0)
      return makeError(StatusCode::InvalidArgument, "submit: ", operand, " is at address ",
                       entry.buffer->addressOrAlignment() + entry.offset, ", expected a multiple of ", slot.alignment);
  }
  state_ = State::Submitted;
  return okStatus();
}

} // namespace tenon::runtime
