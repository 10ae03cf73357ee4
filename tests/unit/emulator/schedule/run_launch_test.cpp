// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks on several worker threads: every one runs once, atomics add up, blocks wait for each other, a fault stops all.
#include "emulator/schedule/run_launch.h"

#include "emulator/decode/decode.h"
#include "emulator/machine/grid.h"
#include "emulator/memory/memory.h"
#include "emulator/schedule/workers.h"
#include "ptx/parse/parser.h"

#include <cuda.h>
#include <gtest/gtest.h>
#include <thread>

namespace tenon::emulator {
namespace {

TEST(EmulatorGrid, HandsOutEveryClusterOnce) {
  Grid grid(1000, 4);
  std::vector<std::atomic<int>> taken(1000);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (uint64_t first, last; grid.take(first, last);)
        for (; first != last; ++first)
          ++taken[first];
    });
  for (std::thread &thread : threads)
    thread.join();
  for (std::atomic<int> &count : taken)
    EXPECT_EQ(count, 1);
}

/// A kernel with one parameter, the address of an array.
class GridRun {
public:
  explicit GridRun(const std::string &body) : memory_(64 << 20, 0x2000'0000'0000ull) {
    std::string text = ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                       ".reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n.reg .pred %p<4>;\nld.param.u64 %rd0, [p];\n" +
                       body + "\n}\n";
    Diagnostics diagnostics;
    module_ = ptx::parse(std::make_shared<SourceFile>("grid", text), diagnostics);
    if (!diagnostics.hasErrors())
      kernel_ =
          decodeKernel(module_, module_.functions[0], [](std::string_view) { return std::nullopt; }, 1024, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.toString();
    address_ = memory_.allocate(kCount * 4, AllocationKind::Device);
  }
  LaunchResult run(uint32_t blocks, uint32_t threads, uint32_t workers) {
    memset(memory_.host(address_), 0, kCount * 4);
    Launch launch;
    launch.kernel = kernel_.get();
    launch.grid.x = blocks;
    launch.block.x = threads;
    launch.parameters = reinterpret_cast<const uint8_t *>(&address_);
    launch.parameterBytes = 8;
    DeviceServices services;
    emulator::workers().setTogether(true); // or the first would run most of so short a launch alone
    return runLaunch(launch, memory_, services, workers);
  }
  uint32_t at(size_t index) const { return reinterpret_cast<const uint32_t *>(memory_.host(address_))[index]; }
  static constexpr size_t kCount = 1 << 16;

private:
  Memory memory_;
  ptx::Module module_;
  std::unique_ptr<DecodedKernel> kernel_;
  uint64_t address_ = 0;
};

TEST(EmulatorGrid, AtomicsOfAllWorkersAddUp) {
  GridRun kernel("mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 3; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd0, %rd1;\n"
                 "mov.u32 %r2, 0;\nagain: red.global.add.u32 [%rd2], 1; add.u32 %r2, %r2, 1;\n"
                 "setp.lt.u32 %p0, %r2, 20; @%p0 bra again; ret;");
  for (uint32_t workers : {1u, 4u}) {
    LaunchResult result = kernel.run(200, 64, workers);
    EXPECT_EQ(result.fault.code, 0) << result.fault.message;
    for (size_t k = 0; k < 4; ++k)
      EXPECT_EQ(kernel.at(k), 200u * 16 * 20);
    EXPECT_EQ(result.threadInstructions, 200u * 64 * (7 + 4 * 20)) << workers << " workers";
  }
}

TEST(EmulatorGrid, HandsOutSeveralClustersWhileManyAreLeft) {
  Grid grid(1000, 4);
  uint64_t first, last, most = 0, least = UINT64_MAX;
  while (grid.take(first, last)) {
    most = std::max(most, last - first);
    least = std::min(least, last - first);
  }
  EXPECT_EQ(first, 1000u);
  EXPECT_EQ(last, 1000u);
  EXPECT_GT(most, 4u);
  EXPECT_EQ(least, 1u);
  Grid oneByOne(1000, 4, true);
  for (uint64_t k = 0; k < 1000; ++k) {
    ASSERT_TRUE(oneByOne.take(first, last));
    EXPECT_EQ(last, k + 1);
  }
  EXPECT_FALSE(oneByOne.take(first, last));
  EXPECT_TRUE(oneByOne.exhausted());
}

TEST(EmulatorGrid, AtomicsOfEveryKindMeetInOneCell) {
  // Blocks add one to a cell: by red, by an atom of the whole vector that holds it, by a reducing bulk copy of four
  // ones, and (the cell behind it, for both halves) by a 128-bit exchange that nobody interrupts.
  GridRun kernel(
      ".shared .align 16 .b32 ones[4];\n"
      "mov.u32 %r0, %ctaid.x; rem.u32 %r1, %r0, 2; mov.u32 %r2, 0; mov.u32 %r3, 1;\n"
      "st.shared.u32 [ones], %r3; st.shared.u32 [ones+4], %r3; st.shared.u32 [ones+8], %r3;"
      "st.shared.u32 [ones+12], %r3;\n"
      "setp.eq.u32 %p0, %r1, 0;\nagain: @%p0 bra one;\n"
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [ones], 16; bra next;\n"
      "one: red.global.add.u32 [%rd0], 1; red.global.max.u32 [%rd0+4], 0; atom.global.inc.u32 %r4, [%rd0+8], -1;\n"
      "atom.global.add.u32 %r4, [%rd0+12], 1;\n"
      "next: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 500; @%p1 bra again; ret;");
  for (uint32_t workers : {1u, 4u}) {
    LaunchResult result = kernel.run(40, 1, workers);
    EXPECT_EQ(result.fault.code, 0) << result.fault.message;
    EXPECT_EQ(kernel.at(0), 40u * 500) << workers << " workers";
    EXPECT_EQ(kernel.at(1), 20u * 500) << workers << " workers";
    EXPECT_EQ(kernel.at(2), 40u * 500) << workers << " workers";
    EXPECT_EQ(kernel.at(3), 40u * 500) << workers << " workers";
  }
}

TEST(EmulatorGrid, SharedAtomicsBelongToTheBlock) {
  // Through the shared and through the generic address; blocks of other workers have their own.
  GridRun kernel(".shared .b32 sum;\nmov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u64 %rd1, sum;"
                 "cvta.shared.u64 %rd1, %rd1; mov.u32 %r3, 0; setp.eq.u32 %p0, %r1, 0; @%p0 st.shared.u32 [sum], %r3;"
                 "bar.sync 0;\nred.shared.add.u32 [sum], 1; red.add.u32 [%rd1], 2; bar.sync 0;\n"
                 "ld.shared.u32 %r2, [sum]; mul.wide.u32 %rd2, %r0, 4; add.s64 %rd2, %rd2, %rd0;"
                 "st.global.u32 [%rd2], %r2; ret;");
  for (uint32_t workers : {1u, 4u}) {
    LaunchResult result = kernel.run(200, 64, workers);
    EXPECT_EQ(result.fault.code, 0) << result.fault.message;
    for (size_t k = 0; k < 200; ++k)
      EXPECT_EQ(kernel.at(k), 64u * 3);
  }
}

TEST(EmulatorGrid, BlocksWaitForLaterBlocks) {
  // Block b waits until block b + 1 has written; the last one does not wait.
  GridRun kernel("mov.u32 %r0, %ctaid.x; mov.u32 %r1, %nctaid.x; add.u32 %r2, %r0, 1;\n"
                 "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;\n"
                 "setp.eq.u32 %p0, %r2, %r1; @%p0 bra done;\n"
                 "wait: ld.acquire.gpu.global.u32 %r3, [%rd2+4]; setp.eq.u32 %p1, %r3, 0; @%p1 bra wait;\n"
                 "done: st.release.gpu.global.u32 [%rd2], %r2; ret;");
  for (uint32_t workers : {1u, 2u, 8u}) {
    LaunchResult result = kernel.run(30, 1, workers);
    EXPECT_EQ(result.fault.code, 0) << result.fault.message;
    for (uint32_t k = 0; k < 30; ++k)
      EXPECT_EQ(kernel.at(k), k + 1);
  }
}

TEST(EmulatorGrid, AFaultStopsAllWorkers) {
  // Block 5 writes out of bounds; the others would never end.
  GridRun kernel("mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 5; @%p0 bra wait; st.global.u32 [%rd0+1000000], %r0;\n"
                 "wait: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra wait; ret;");
  for (uint32_t workers : {1u, 4u}) {
    LaunchResult result = kernel.run(20, 32, workers);
    EXPECT_EQ(result.fault.code, CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_NE(result.fault.message.find("block (5,0,0)"), std::string::npos) << result.fault.message;
  }
}

} // namespace
} // namespace tenon::emulator
