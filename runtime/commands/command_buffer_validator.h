// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of recording, in front of every implementation: an error names the command, the operand, what was found and
// what was wanted. Checks are integer comparisons on values that are at hand, so they are always on.
//
// What only a submission knows (the buffers of slots) is kept as one requirement per slot, the strictest of all its
// uses, and compared when a binding table arrives.
#pragma once

#include "runtime/commands/recorded_command.h"

#include <mutex>
#include <set>

namespace tenon::runtime {

class CommandBufferValidator {
public:
  CommandBufferValidator(const Device &device, const CommandBufferOptions &options);

  Status begin();
  Status end();
  Status checkRecording() const;

  Status check(const FillCommand &command);
  Status check(const UpdateCommand &command);
  Status check(const CopyCommand &command);
  Status check(const DispatchCommand &command);
  Status check(const BarrierCommand &command);
  Status check(const EventCommand &command);

  /// A buffer that something else than a recorded command reads or writes; `ref.length` becomes its bytes.
  /// InvalidArgument: a slot; else as commands.
  static Status checkTransfer(const Device &device, std::string_view name, BufferRef &ref, uint32_t usage,
                              uint32_t access);

  /// Ready, not used up, and `table` meets the requirements of every slot. Marks a one-shot command buffer as used.
  Status checkSubmission(BindingTable table);

private:
  enum class State : uint8_t { Initial, Recording, Ready, Submitted };
  // How a command uses a range.
  struct Use {
    std::string_view command; // "fill"
    std::string operand;      // "the target", "binding 2"
    uint32_t usage = 0;
    uint32_t access = 0;
    uint32_t alignment = 1;    // bytes, of the address
    uint64_t minimumBytes = 0; // that the range must have
  };
  // What a slot's buffer must be good for.
  struct Requirement {
    bool used = false;
    uint32_t usage = 0, access = 0, alignment = 1;
    uint64_t bytes = 0;    // from the entry's offset on
    std::string strictest; // the use that needs the most bytes: "binding 2 of dispatch"
  };
  /// Checks a ref; `length` becomes its bytes, or kWholeBuffer where only the submission knows them.
  Status checkRef(const BufferRef &ref, const Use &use, uint64_t &length);
  Status checkBuffer(const Buffer &buffer, const Use &use) const;
  void require(const BufferRef &ref, const Use &use);

  const Device &device_;
  CommandBufferOptions options_;
  State state_ = State::Initial;
  std::vector<Requirement> slots_; // [slotCount]
  std::set<const Event *> signalled_;
  std::mutex submissionMutex_; // guards the step from Ready to Submitted
};

} // namespace tenon::runtime
