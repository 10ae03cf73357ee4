// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a command buffer records: one struct of each kind, with the buffers that it names. A new kind is a struct here
// and a row of each table in recorded_command.cpp; the compiler then points at the functions that have to know it.
#pragma once

#include "runtime/commands/event.h"
#include "runtime/device/profile.h"
#include "runtime/executable/executable.h"
#include "runtime/memory/buffer.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tenon::runtime {

inline constexpr uint64_t kWholeBuffer = ~uint64_t(0);          // a length: to the end of the buffer
inline constexpr uint64_t kMaxUpdateBytes = uint64_t(64) << 10; // inline data of one update

/// Bytes [offset, offset + length) of a buffer, or of whatever a submission binds to `slot`.
struct BufferRef {
  std::shared_ptr<Buffer> buffer; // null: slot
  uint64_t offset = 0;
  uint64_t length = kWholeBuffer;
  uint32_t slot = 0;

  static BufferRef of(std::shared_ptr<Buffer> buffer, uint64_t offset = 0, uint64_t length = kWholeBuffer) {
    return {std::move(buffer), offset, length, 0};
  }
  static BufferRef ofSlot(uint32_t slot, uint64_t offset = 0, uint64_t length = kWholeBuffer) {
    return {nullptr, offset, length, slot};
  }
};

/// What a submission binds to a slot; refs of the command buffer lie within it.
struct TableEntry {
  std::shared_ptr<Buffer> buffer;
  uint64_t offset = 0;
  uint64_t length = kWholeBuffer;
};
using BindingTable = std::span<const TableEntry>;

struct FillCommand {
  BufferRef target;
  uint32_t pattern = 0;
  uint32_t patternBytes = 4;
};
struct UpdateCommand {
  BufferRef target;
  std::vector<uint8_t> bytes;
};
struct CopyCommand {
  BufferRef source, target;
};
struct DispatchCommand {
  std::shared_ptr<Executable> executable;
  uint32_t ordinal = 0;
  std::array<uint32_t, 3> grid = {};
  BufferRef gridBuffer; // indirect: three 32-bit counts
  bool isIndirect = false;
  std::vector<BufferRef> bindings;
  std::vector<uint64_t> constants;
  const LoadedExport *loaded = nullptr; // set when recorded
};
struct BarrierCommand {};
struct EventCommand {
  enum class Kind : uint8_t { Signal, Reset, Wait } kind = Kind::Signal;
  std::vector<std::shared_ptr<Event>> events;
};
using RecordedCommand =
    std::variant<FillCommand, UpdateCommand, CopyCommand, DispatchCommand, BarrierCommand, EventCommand>;

/// "fill", "dispatch of 'saxpy'".
std::string describeCommand(const RecordedCommand &command);

/// What a profile says of it: kind, name, bytes, grid. Barriers and events are no work: their kind is Commands.
ProfileEvent profileOf(const RecordedCommand &command);

/// Appends the buffers that the command names.
void collectBuffers(const RecordedCommand &command, std::vector<const Buffer *> &out);

/// Whether an address of the command is known only when it is issued: of a slot, or of memory that comes late.
bool hasSlots(const RecordedCommand &command);

struct CommandBufferOptions {
  bool oneShot = false;   // submitted at most once
  uint32_t slotCount = 0; // slots of the binding table
};

/// "'add', 'scale' and 3 more": equal neighbours once, at most eight; "no dispatches".
std::string nameList(const std::vector<std::string> &names);

} // namespace tenon::runtime
