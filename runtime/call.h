// One call of a function, step by step; Program::call says the order. A step that fails leaves nothing behind: buffers
// are owned, and a call that submitted work waits for it before it gives memory back.
#pragma once

#include "abi/program_generated.h"
#include "runtime/argument_packer.h"
#include "runtime/program.h"
#include "runtime/queue.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

/// InvalidArgument says how many inputs of which types the function takes.
Status checkInputCount(const abi::fb::Function &function, size_t given);

class Call {
public:
  Call(Program &program, const abi::fb::Function &function, std::span<const Value> inputs, const CallOptions &options)
      : program_(program), function_(function), inputs_(inputs), options_(options) {}

  /// Count, element types, ranks and static extents of the inputs.
  Status checkInputs() const;
  /// Shapes and scalars: every register of the function.
  Status computeRegisters();
  /// The function's own checks, in order; the first that fails.
  Status evaluateChecks() const;
  /// Every kernel that the commands launch, selected and loaded.
  Status loadKernels();
  /// Input and constant buffers by reference, memory for the transients.
  Status bindBuffers();
  /// The commands, in order, onto the queue.
  Status submitCommands();
  /// Waits; says which dispatch may have failed.
  Status synchronize();
  /// Result tensors over their buffers, and result scalars.
  Result<std::vector<Value>> collectResults() const;

private:
  struct BoundBuffer {
    std::shared_ptr<const Buffer> buffer;
    uint64_t bytes = 0;
  };
  Result<DeviceRange> resolve(const abi::fb::BufferRange &range) const;
  Status submit(const abi::fb::Command &command, uint32_t index);
  Status submitDispatch(const abi::fb::Dispatch &dispatch, uint32_t index);
  Status submitFill(const abi::fb::Fill &fill);
  std::string describeCommand(uint32_t index) const;
  Status describeFault(Status status) const;
  Result<Tensor> collectTensor(const abi::fb::ResultValue &result, uint32_t index) const;

  Program &program_;
  const abi::fb::Function &function_;
  std::span<const Value> inputs_;
  CallOptions options_;
  std::vector<int64_t> registers_;
  std::vector<BoundBuffer> buffers_;
  std::vector<const LoadedExport *> kernels_; // [commands], null where the command is no dispatch
  std::vector<uint32_t> launched_;            // commands whose kernels were launched
};

} // namespace tenon::runtime
