// Blocks on several worker threads: every one runs once, atomics add up, blocks wait for each other, a fault stops all.
#include "emulator/grid.h"

#include "emulator/decode.h"
#include "emulator/memory.h"
#include "ptx/parser.h"

#include <cuda.h>
#include <gtest/gtest.h>
#include <thread>

namespace tenon::emulator {
namespace {

TEST(EmulatorGrid, HandsOutEveryClusterOnce) {
  Grid grid(1000);
  std::vector<std::atomic<int>> taken(1000);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (uint64_t cluster; grid.take(cluster);)
        ++taken[cluster];
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
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                       ".reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n.reg .pred %p<4>;\nld.param.u64 %rd0, [p];\n" +
                       body + "\n}\n";
    Diagnostics diagnostics;
    module_ = ptx::parse(std::make_shared<SourceFile>("grid", text), diagnostics);
    if (!diagnostics.hasErrors())
      program_ =
          decodeKernel(module_, module_.functions[0], [](std::string_view) { return std::nullopt; }, 1024, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.toString();
    address_ = memory_.allocate(kCount * 4, AllocationKind::Device);
  }
  LaunchResult run(uint32_t blocks, uint32_t threads, uint32_t workers) {
    memset(memory_.host(address_), 0, kCount * 4);
    Launch launch;
    launch.program = program_.get();
    launch.grid.x = blocks;
    launch.block.x = threads;
    launch.parameters = reinterpret_cast<const uint8_t *>(&address_);
    launch.parameterBytes = 8;
    DeviceServices services;
    return runLaunch(launch, memory_, services, workers);
  }
  uint32_t at(size_t index) const { return reinterpret_cast<const uint32_t *>(memory_.host(address_))[index]; }
  static constexpr size_t kCount = 1 << 16;

private:
  Memory memory_;
  ptx::Module module_;
  std::unique_ptr<Program> program_;
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
