// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands recorded once and run on a queue, as often as they are submitted. One front for every implementation: what
// is recorded is checked here (command_buffer_validator.h, always on) and kept as a list; an implementation turns the
// list into work on a stream:
//
//   stream_command_buffer.h   one driver call per command, one after another
//   graph_command_buffer.h    a CUDA graph: commands that no barrier separates run side by side
//
// begin -> fill, update, copy, dispatch, barrier, ... -> end -> submit (SubmissionQueue). Commands between two barriers
// are in no order: a command that reads what another one wrote needs a barrier, or an event, between them.
//
// A buffer is named directly, or as a slot of the binding table that each submission brings: one recording, replayed
// with other buffers. Recording is for one thread; issuing is safe from several.
#pragma once

#include "runtime/commands/command_buffer_validator.h"

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

/// What a dispatch is called with.
struct DispatchArguments {
  std::vector<BufferRef> bindings; // [layout bindings]
  std::vector<uint64_t> constants; // [layout constants], the low bytes of each
};

class StreamTrace;

class CommandBuffer {
public:
  virtual ~CommandBuffer();
  CommandBuffer(const CommandBuffer &) = delete;
  CommandBuffer &operator=(const CommandBuffer &) = delete;

  Device &device() const { return *device_; }
  const CommandBufferOptions &options() const { return options_; }
  /// Recorded commands, barriers included.
  size_t commandCount() const { return commands_.size(); }

  // Recording. Each returns FailedPrecondition outside begin() .. end(), for a buffer whose usage or access does not
  // allow it, or that was deallocated; OutOfRange past a buffer's end; InvalidArgument for what is said beside it. A
  // command that is refused is not recorded, and the recording goes on.

  Status begin();
  /// The recording is complete: an implementation prepares what it can. Errors of the driver.
  Status end();

  /// Repeats `pattern`. InvalidArgument: `patternBytes` is not 1, 2 or 4, or offset, length or address is no multiple
  /// of it.
  Status fill(BufferRef target, uint32_t pattern, uint32_t patternBytes);
  /// Writes `bytes` (copied now, at most kMaxUpdateBytes). InvalidArgument: more bytes, or the target's length differs.
  Status update(std::span<const uint8_t> bytes, BufferRef target);
  /// InvalidArgument: lengths differ, or the ranges overlap.
  Status copy(BufferRef source, BufferRef target);
  /// Launches an export; a grid with a zero launches nothing. The image is selected and loaded now. InvalidArgument:
  /// argument counts differ from the layout's, or a binding breaks a declared alignment; OutOfRange: the grid.
  Status dispatch(std::shared_ptr<Executable> executable, uint32_t ordinal, std::array<uint32_t, 3> grid,
                  DispatchArguments arguments);
  /// As dispatch, with the grid read from `grid` (12 bytes, offset a multiple of 4) when the commands before have run.
  /// The host reads it: the queue's worker waits there for them, never the caller of submit.
  Status dispatchIndirect(std::shared_ptr<Executable> executable, uint32_t ordinal, BufferRef grid,
                          DispatchArguments arguments);
  /// Everything recorded before happens before everything recorded after.
  Status barrier();
  /// Marks what was recorded before.
  Status signalEvent(std::shared_ptr<Event> event);
  /// The event is as if it had never been signalled.
  Status resetEvent(std::shared_ptr<Event> event);
  /// What was before each event's signal happens before what is recorded after. InvalidArgument: not signalled here.
  Status waitEvents(std::span<const std::shared_ptr<Event>> events);

  // For queues.

  /// Checks that it can be submitted, with these buffers bound. A one-shot one cannot be submitted again.
  Status checkSubmission(BindingTable table);
  /// Whether issue() waits for the device: indirect grids are read by the host.
  bool waitsOnHost() const;
  /// Names of the exports it dispatches, in recorded order.
  std::vector<std::string> dispatchNames() const;
  /// Gives the commands to `stream`; a failure names the command. Resources live until the stream has passed them.
  /// `times` (may be null) gets the moments of each.
  Status issue(CUstream stream, BindingTable table, StreamTimes *times = nullptr);

protected:
  CommandBuffer(std::shared_ptr<Device> device, const CommandBufferOptions &options);
  /// Called by end(), and by issue() with no other issue() of this at the same time.
  virtual Status prepare() = 0;
  virtual Status issueCommands(CUstream stream, BindingTable table) = 0;
  /// As issueCommands, one by one and never as a graph, so that each can be timed.
  virtual Status issueTraced(CUstream stream, BindingTable table, StreamTrace &trace) = 0;

  const std::vector<RecordedCommand> &commands() const { return commands_; }
  /// Of the issue() that is under way; null: the commands are not profiled.
  StreamTimes *times() const { return times_; }
  /// Device range of a ref, now that slots are bound. The table was checked.
  static DeviceRange resolve(const BufferRef &ref, BindingTable table);
  static void resolveBindings(const DispatchCommand &dispatch, BindingTable table, std::vector<DeviceRange> &bindings);

private:
  /// No buffer that was recorded has been deallocated since.
  Status checkLive() const;
  /// And every one has an address.
  Status checkPresent(BindingTable table) const;
  Status record(RecordedCommand command);
  Status recordDispatch(DispatchCommand command);

  std::shared_ptr<Device> device_;
  CommandBufferOptions options_;
  CommandBufferValidator validator_;
  std::vector<RecordedCommand> commands_;
  std::vector<const Buffer *> buffers_; // of all commands, each once; the commands keep them
  std::mutex issueMutex_;
  StreamTimes *times_ = nullptr; // guarded by issueMutex_
};

} // namespace tenon::runtime
