// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the shared variables of a kernel lie.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

/// The address of dynamic shared memory that asks for `alignment`, behind a static variable of so many bytes.
uint32_t dynamicBegin(const std::string &alignment, unsigned staticBytes) {
  DeviceArray<uint32_t> address(1);
  const std::string own = ".shared .align 4 .b8 own[" + std::to_string(staticBytes) + "];\n";
  const std::string kernel =
      header("sm_90a") + ".extern .shared .align " + alignment + " .b8 arena[];\n" + (staticBytes ? own : "") +
      ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<1>;\n  .reg .b32 %r<1>;\n" +
      (staticBytes ? "  st.shared.b8 [own], 1;\n" : "") +
      "  ld.param.u64 %rd0, [p];\n  mov.u32 %r0, arena;\n  st.global.u32 [%rd0], %r0;\n  ret;\n}\n";
  EXPECT_EQ(run(kernel, {address.address}, 1, 1, 64), CUDA_SUCCESS) << lastReport();
  return address.read()[0];
}

// As cuModuleLoadData has it on an H200. What nvlink or cuLink made of the same PTX goes by 16 alone, so that no
// generated kernel asks for more behind static variables.
TEST(EmulatorKernelBuilder, DynamicSharedMemoryIsAlignedAsItAsks) {
  Session session;
  EXPECT_EQ(dynamicBegin("1024", 0), 0x400u);
  for (const char *alignment : {"4", "16"}) {
    EXPECT_EQ(dynamicBegin(alignment, 4), 0x410u) << alignment;
    EXPECT_EQ(dynamicBegin(alignment, 36), 0x430u) << alignment;
    EXPECT_EQ(dynamicBegin(alignment, 1025), 0x810u) << alignment;
  }
  EXPECT_EQ(dynamicBegin("128", 36), 0x480u);
  EXPECT_EQ(dynamicBegin("1024", 4), 0x800u);
  EXPECT_EQ(dynamicBegin("1024", 1025), 0xc00u);
}

} // namespace
} // namespace tenon::emulator::test
