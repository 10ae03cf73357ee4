// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of a kernel once it is decoded.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

/// Registers of a thread, of a kernel that has so many variables.
int registersOf(const std::string &directives, unsigned variables) {
  std::string body = "  mov.u64 %rd0, %clock64;\n";
  for (unsigned k = 1; k < variables; ++k)
    body += "  add.u64 %rd" + std::to_string(k) + ", %rd" + std::to_string(k - 1) + ", %rd0;\n";
  Loaded loaded = load(header("sm_90a") + ".visible .entry k()\n" + directives + "\n{\n  .reg .b64 %rd<" +
                       std::to_string(variables) + ">;\n" + body + "  ret;\n}\n");
  CUfunction function;
  int registers = 0;
  EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS) << loaded.log;
  EXPECT_EQ(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function), CUDA_SUCCESS);
  cuModuleUnload(loaded.module);
  return registers;
}

// Or else a launch of as many blocks as run at once would have one of a kernel with many variables.
TEST(EmulatorDecode, RegistersLeaveRoomForTheBlocksThatAreDeclared) {
  Session session;
  EXPECT_LT(registersOf("", 4), 32);
  EXPECT_EQ(registersOf("", 4000), 255);
  EXPECT_EQ(registersOf(".reqntid 256, 1, 1", 4000), 255);
  EXPECT_EQ(registersOf(".reqntid 384, 1, 1", 4000), 168);
  EXPECT_EQ(registersOf(".maxntid 16, 24, 1", 4000), 168);
  EXPECT_EQ(registersOf(".reqntid 384, 1, 1 .minnctapersm 2", 4000), 80);
  EXPECT_EQ(registersOf(".maxntid 1024, 1, 1 .minnctapersm 2", 4000), 32);
}

} // namespace
} // namespace tenon::emulator::test
