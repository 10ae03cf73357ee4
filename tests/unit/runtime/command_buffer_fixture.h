// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device, a buffer and an executable on the fake driver, and a command buffer that records.
#pragma once

#include "runtime/commands/graph_command_buffer.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

namespace tenon::test {

class CommandBufferFixture : public FakeDeviceTest {
protected:
  CommandBufferFixture() {
    fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 4}};
    open();
    buffer = runtime::allocateBuffer(*device, 64, {}).take();
    // 'add' has bindings (ReadOnly, ReadWrite with alignment 16) and one constant.
    std::vector<abi::Export> exports = {makeExport("add", 2, 1)};
    exports[0].layout.bindings[1].alignment = 16;
    executable =
        runtime::Executable::create(device, buildExecutable("exe", exports, {{.name = "v", .image = "ptx"}}), "test")
            .take();
    begin();
  }
  void TearDown() override {
    commands.reset();
    executable.reset();
    buffer.reset();
  }
  void begin(const runtime::CommandBufferOptions &options = {}) {
    commands = runtime::createCommandBuffer(
                   device, options, isGraph ? runtime::CommandBufferMode::Graph : runtime::CommandBufferMode::Stream)
                   .take();
    EXPECT_TRUE(commands->begin().ok());
  }
  runtime::BufferRef ref(uint64_t offset = 0, uint64_t length = runtime::kWholeBuffer) {
    return runtime::BufferRef::of(buffer, offset, length);
  }
  std::shared_ptr<runtime::Buffer> make(uint32_t usage, uint32_t access = runtime::kAccessAll) {
    return runtime::allocateBuffer(*device, 64, {.usage = usage, .access = access}).take();
  }
  std::vector<uint8_t> read() {
    std::vector<uint8_t> bytes(64);
    EXPECT_TRUE(downloadBytes(*buffer, 0, bytes).ok());
    return bytes;
  }

  bool isGraph = false;
  std::shared_ptr<runtime::Buffer> buffer;
  std::shared_ptr<runtime::Executable> executable;
  std::shared_ptr<runtime::CommandBuffer> commands;
};

} // namespace tenon::test
