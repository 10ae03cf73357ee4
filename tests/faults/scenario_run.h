// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The class behind runScenario: the steps, what they share, and how each is tried. Steps are grouped by what they are
// about, a file each.
#pragma once

#include "scenario.h"

#include "runtime/program/program.h"

namespace tenon::faults {

using namespace tenon::conformance;

constexpr uint64_t kBytes = kThreads * 4;
constexpr FileTransferOptions kRing = {.chunkBytes = 4096, .chunkCount = 2};
constexpr uint64_t kFileBytes = 3 * kRing.chunkBytes + 5;
constexpr uint64_t kPatience = 20'000'000'000; // ns: a wait that takes longer is a deadlock

inline Status check(bool holds, std::string_view what) {
  return holds ? okStatus() : makeError(StatusCode::DataLoss, "wrong: ", what);
}

class Scenario {
public:
  Scenario(const Inputs &inputs, const cuda::DriverSearch &search) : inputs_(inputs), search_(search) {}
  ~Scenario() { close(); }
  Outcome run();

private:
  void open();
  void close();
  // memory_steps.cpp
  void memory();
  void sharing();
  void transfers();
  // command_steps.cpp
  void commandBuffers(CommandBufferMode mode);
  Status record(CommandBuffer &c, const std::shared_ptr<Buffer> &own);
  void launches();
  // submission_steps.cpp
  void submissions();
  void submissionMemory();
  // program_steps.cpp
  void program();
  Status capture();
  Value tensor(std::shared_ptr<Buffer> of) { return Tensor{abi::ElementType::F32, {int64_t(kThreads)}, std::move(of)}; }
  Result<std::vector<Value>> arguments();
  Status expectSum(const std::vector<Value> &results);

  /// Runs `body`, and again where it failed; false: it failed twice.
  template <typename Body> bool step(const char *name, const Body &body) {
    if (!outcome_.wrong.empty())
      return false;
    for (int attempt = 0; attempt < 2; ++attempt) {
      Status status = body();
      if (status.ok())
        return true;
      if (status.code() == StatusCode::DataLoss || status.code() == StatusCode::DeadlineExceeded || attempt == 1)
        outcome_.wrong = concat(name, attempt ? ", tried again: " : ": ", status.toString());
      outcome_.errors.push_back(concat(name, ": ", status.toString()));
      if (!outcome_.wrong.empty())
        return false;
    }
    return false;
  }

  /// Waits for the two signals of a submission: both are reached, or both failed for one reason.
  static Status await(std::span<const SemaphorePoint> signals);
  template <typename Submit> static Status submitAndWait(const Submit &submit) {
    const SemaphorePoint signals[] = {{Semaphore::create(), 1}, {Semaphore::create(), 7}};
    Status submitted = submit(SemaphorePoints(signals));
    if (!submitted.ok()) { // nothing of it may come later
      for (const SemaphorePoint &point : signals)
        TENON_RETURN_IF_ERROR(check(point.semaphore->state(1) == Semaphore::State::Pending, "a refused submission "
                                                                                            "signalled"));
      return submitted;
    }
    return await(signals);
  }
  Result<std::shared_ptr<Buffer>> buffer(const std::vector<uint32_t> &values, const BufferOptions &options = {});
  static std::span<const uint8_t> bytesOf(const std::vector<uint32_t> &values) {
    return {reinterpret_cast<const uint8_t *>(values.data()), values.size() * 4};
  }
  Status expect(const Buffer &of, const std::vector<uint32_t> &wanted);
  Status called(CUresult result, const char *call) { return cuda::driverStatus(device_->driver(), result, call); }

  const Inputs &inputs_;
  const cuda::DriverSearch &search_;
  const test::AlignedBytes programBytes_{inputs_.program};
  Outcome outcome_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<SubmissionQueue> queue_, other_;
  std::shared_ptr<Executable> executable_, launches_;
  std::unique_ptr<Program> program_;
};

} // namespace tenon::faults
