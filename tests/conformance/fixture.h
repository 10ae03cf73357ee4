// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device that TENON_CUDA_DRIVER names (a GPU, or the emulator), the suite's executable, a queue, and one command
// buffer implementation: every test is written once and run on each. Where there is no device or no PTX of the kernels,
// a test is skipped and says why.
#pragma once

#include "runtime/commands/graph_command_buffer.h"
#include "runtime/device/device.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "runtime/queue/submission_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace tenon::conformance {

using namespace tenon::runtime;

enum class Implementation { Stream, Graph };
inline constexpr Implementation kImplementations[] = {Implementation::Stream, Implementation::Graph};
std::string implementationName(const testing::TestParamInfo<Implementation> &info);

// Ordinals of the suite's executable, in the order of kernels.cu.
enum Kernel : uint32_t {
  kAdd,
  kScale,
  kIota,
  kStoreConstants,
  kStoreTyped,
  kCountWorkgroups,
  kMarkWorkgroups,
  kWriteGrid,
  kReverseShared,
  kWriteToNull,
  kStoreStructs,
  kScaleAndOffset,
  kScaleAndOffsetOrdered
};
inline constexpr uint32_t kThreads = 64; // of every workgroup

/// What the process opens once: the device, or why there is none.
struct Environment {
  std::shared_ptr<Device> device;
  std::vector<uint8_t> executableBytes;
  std::string whyNot;
  bool isBroken = false; // the emulator does not open: it is always there, and may refuse a variable

  static Environment open();
  static Environment &shared();
};
/// The exports of kernels.cu.
std::vector<abi::Export> kernelExports();
/// PTX of kernels.cu for an architecture (75, 80, 90); empty where nvcc did not make it.
std::string readPtx(int arch);
/// Links kernels of the given architectures into an executable.
Result<std::vector<uint8_t>> linkKernels(std::vector<abi::Export> exports, const std::vector<int> &archs);

#define OK(expr)                                                                                                       \
  do {                                                                                                                 \
    const ::tenon::Status okStatus_ = (expr);                                                                          \
    ASSERT_TRUE(okStatus_.ok()) << okStatus_.toString();                                                               \
  } while (false)
#define FAILS(expr, expected, part)                                                                                    \
  do {                                                                                                                 \
    const ::tenon::Status failed_ = (expr).clone();                                                                    \
    EXPECT_EQ(failed_.code(), ::tenon::StatusCode::expected) << failed_.toString();                                    \
    EXPECT_NE(failed_.message().find(part), std::string_view::npos) << failed_.toString();                             \
  } while (false)

/// A device and a queue.
class DeviceTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  std::shared_ptr<Buffer> allocate(uint64_t bytes, const BufferOptions &options = {});
  template <typename T> std::shared_ptr<Buffer> upload(const std::vector<T> &values) {
    auto buffer = allocate(values.size() * sizeof(T));
    Status status =
        uploadBytes(*buffer, 0, {reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(T)});
    EXPECT_TRUE(status.ok()) << status.message();
    return buffer;
  }
  template <typename T> std::vector<T> download(const Buffer &buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    Status status = downloadBytes(buffer, 0, {reinterpret_cast<uint8_t *>(values.data()), values.size() * sizeof(T)});
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
  std::shared_ptr<Buffer> zeros(size_t words) { return upload(std::vector<uint32_t>(words)); }
  static std::vector<uint32_t> numbers(size_t n, uint32_t from = 0);
  static std::vector<float> floats(size_t n, float from, float step);
  /// Bytes without a short period.
  static std::vector<uint8_t> noise(size_t n);

  std::shared_ptr<Device> device;
  std::shared_ptr<SubmissionQueue> queue;
  std::shared_ptr<Executable> executable;
};

/// And command buffers of one implementation.
class CommandTest : public DeviceTest, public testing::WithParamInterface<Implementation> {
protected:
  void SetUp() override;
  std::shared_ptr<CommandBuffer> create(const CommandBufferOptions &options = {});
  std::shared_ptr<CommandBuffer> record(const std::function<Status(CommandBuffer &)> &commands,
                                        const CommandBufferOptions &options = {});
  /// Submits and waits.
  Status run(const std::shared_ptr<CommandBuffer> &commands, const std::vector<TableEntry> &table = {});
  Status run(const std::function<Status(CommandBuffer &)> &commands) { return run(record(commands)); }
};

#define CONFORMANCE_SUITE(name)                                                                                        \
  class name : public CommandTest {};                                                                                  \
  INSTANTIATE_TEST_SUITE_P(Each, name, testing::ValuesIn(kImplementations), implementationName)

} // namespace tenon::conformance
