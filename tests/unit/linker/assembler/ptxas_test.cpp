// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/assembler/ptxas.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(Ptxas, ReadsResources) {
  Assembly assembly = parsePtxasLog("ptxas info    : 0 bytes gmem\n"
                                    "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
                                    "ptxas info    : Function properties for helper\n"
                                    "    900 bytes stack frame, 901 bytes spill stores, 902 bytes spill loads\n"
                                    "ptxas info    : Function properties for k\n"
                                    "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
                                    "ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 392 bytes "
                                    "cmem[0]\n"
                                    "ptxas info    : Compile time = 1.813 ms\n"
                                    "ptxas info    : Compiling entry function 'l' for 'sm_80'\n"
                                    "ptxas info    : Used 8 registers, 360 bytes cmem[0]\n",
                                    0);
  EXPECT_EQ(assembly.outcome, Assembly::Outcome::Assembled);
  EXPECT_TRUE(assembly.messages.empty());
  ASSERT_EQ(assembly.kernels.size(), 2u);
  EXPECT_EQ(assembly.kernels[0].name, "k");
  EXPECT_EQ(assembly.kernels[0].registers, 255u);
  EXPECT_EQ(assembly.kernels[0].stackBytes, 16u);
  EXPECT_EQ(assembly.kernels[0].spillStoreBytes, 24u);
  EXPECT_EQ(assembly.kernels[0].spillLoadBytes, 32u);
  EXPECT_EQ(assembly.kernels[0].sharedBytes, 1024u);
  EXPECT_EQ(assembly.kernels[1].registers, 8u);
  EXPECT_EQ(assembly.kernels[1].sharedBytes, 0u);
}

TEST(Ptxas, ReadsErrorsWithTheirLines) {
  Assembly assembly = parsePtxasLog("ptxas /proc/self/fd/3, line 48; error   : Unknown modifier '.q32'\n"
                                    "ptxas /a, line 1; error : b.ptx, line 50; warning : Nothing : really\n"
                                    "ptxas error   : Entry function 'k' uses too much shared data\n"
                                    "ptxas fatal   : Ptx assembly aborted due to errors\n",
                                    255);
  EXPECT_EQ(assembly.outcome, Assembly::Outcome::Refused);
  ASSERT_EQ(assembly.messages.size(), 3u);
  EXPECT_EQ(assembly.messages[0].line, 48u);
  EXPECT_EQ(assembly.messages[0].text, "Unknown modifier '.q32'");
  EXPECT_EQ(assembly.messages[1].severity, Severity::Error);
  EXPECT_EQ(assembly.messages[2].line, 0u);
}

TEST(Ptxas, TellsWhatItDoesNotKnowFromWhatIsWrong) {
  EXPECT_EQ(parsePtxasLog("ptxas fatal   : Value 'sm_61' is not defined for option 'gpu-name'\n", 1).outcome,
            Assembly::Outcome::UnknownTarget);
  EXPECT_EQ(parsePtxasLog("ptxas in.ptx, line 9; fatal   : Unsupported .version 9.9; current version is '9.0'\n"
                          "ptxas fatal   : Ptx assembly aborted due to errors\n",
                          1)
                .outcome,
            Assembly::Outcome::NewerIsa);
}

TEST(Ptxas, SaysSomethingWhereItSaysNothing) {
  Assembly assembly = parsePtxasLog("", 139);
  ASSERT_EQ(assembly.messages.size(), 1u);
  EXPECT_EQ(assembly.messages[0].text, "it ended with status 139 and without a message");
}

TEST(Ptxas, KeepsWarnings) {
  Assembly assembly = parsePtxasLog("ptxas in.ptx, line 5; warning : Something\n", 0);
  ASSERT_EQ(assembly.messages.size(), 1u);
  EXPECT_EQ(assembly.messages[0].severity, Severity::Warning);
  EXPECT_EQ(assembly.messages[0].line, 5u);
}

TEST(Ptxas, MustBeAProgram) {
  EXPECT_EQ(findPtxas("/no/such/ptxas").status().message(), "'/no/such/ptxas' is not a program that can be run");
  EXPECT_EQ(*findPtxas("/bin/sh"), "/bin/sh");
  // A name is searched for.
  EXPECT_TRUE(findPtxas("sh")->ends_with("/sh"));
  EXPECT_TRUE(findPtxas("no-such-ptxas").status().message().starts_with("no no-such-ptxas in "));
}

} // namespace
} // namespace tenon::linker
