// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers: phases, states, what is an error; and what a block without a cluster reads about clusters.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

/// `body` runs in one thread with an mbarrier at [%b]; %r0 is the result.
std::string kernel(const std::string &body) {
  return header("sm_90") +
         ".shared .align 8 .b64 object[2];\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<4>;\n"
         "  .reg .b32 %r<4>, %b;\n  .reg .pred %p<4>;\n  ld.param.u64 %rd0, [p];\n"
         "  mov.u32 %b, object;\n  mov.u32 %r0, 0;\n  " +
         body + "\n  st.global.u32 [%rd0], %r0;\n  ret;\n}\n";
}
uint32_t result(const std::string &body) {
  DeviceArray<uint32_t> out(1);
  EXPECT_EQ(run(kernel(body), {out.address}, 1, 1), CUDA_SUCCESS) << body << lastReport();
  return out.read()[0];
}

TEST(EmulatorMbarrier, CompletesPhases) {
  Session session;
  const std::string init = "mbarrier.init.shared.b64 [%b], 2;\n";
  const std::string arrive = "mbarrier.arrive.shared.b64 _, [%b];\n";
  auto parity = [](int wanted) {
    return "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], " + std::to_string(wanted) +
           ";\n selp.u32 %r0, 1, 0, %p0;";
  };
  EXPECT_EQ(result(init + arrive + parity(0)), 0u);
  EXPECT_EQ(result(init + arrive + arrive + parity(0)), 1u);
  EXPECT_EQ(result(init + arrive + arrive + parity(1)), 0u);
  EXPECT_EQ(result(init + arrive + arrive + arrive + arrive + parity(1)), 1u);
  // Two arrivals at once; bytes that are awaited hold the phase open.
  EXPECT_EQ(result(init + "mbarrier.arrive.shared.b64 %rd1, [%b], 2;\n" + parity(0)), 1u);
  EXPECT_EQ(result(init + arrive + "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 96;\n" + parity(0)), 0u);
  EXPECT_EQ(result(init + arrive + "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 96;\n" +
                   "mbarrier.complete_tx.shared::cta.b64 [%b], 64; mbarrier.complete_tx.shared::cta.b64 [%b], 32;\n" +
                   parity(0)),
            1u);
  // Bytes may come before they are announced.
  EXPECT_EQ(result(init + arrive + "mbarrier.complete_tx.shared::cta.b64 [%b], 8;\n" + arrive + parity(0)), 0u);
  // One thread fewer from the next phase on.
  EXPECT_EQ(result(init + arrive + "mbarrier.arrive_drop.shared.b64 _, [%b];\n" + arrive + parity(1)), 1u);
  EXPECT_EQ(result(init + "mbarrier.arrive_drop.expect_tx.relaxed.cta.shared.b64 _, [%b], 8;\n" + arrive +
                   "mbarrier.complete_tx.shared::cta.b64 [%b], 8;\n" + arrive + parity(1)),
            1u);
  // The state of a phase that is over.
  EXPECT_EQ(result(init + "mbarrier.arrive.shared.b64 %rd1, [%b];\nmbarrier.test_wait.shared.b64 %p1, [%b], %rd1;\n" +
                   arrive + "mbarrier.test_wait.shared.b64 %p0, [%b], %rd1;\n selp.u32 %r0, 1, 0, %p0;\n" +
                   "selp.u32 %r1, 2, 0, %p1; add.u32 %r0, %r0, %r1;"),
            1u);
  EXPECT_EQ(
      result(init + "mbarrier.arrive.noComplete.shared.b64 %rd1, [%b], 1;\n" + "mbarrier.pending_count.b64 %r0, %rd1;"),
      2u);
}

TEST(EmulatorMbarrier, ReportsMisuse) {
  struct Misuse {
    const char *body, *text;
  };
  const Misuse cases[] = {
      {"mbarrier.arrive.shared.b64 _, [%b];", "the mbarrier object was not initialised"},
      {"mbarrier.init.shared.b64 [%b], 1; mbarrier.inval.shared.b64 [%b]; mbarrier.arrive.shared.b64 _, [%b];",
       "the mbarrier object was not initialised"},
      {"mbarrier.init.shared.b64 [%b], 0;", "mbarrier.init of no arrivals"},
      {"mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 _, [%b], 2;", "more arrivals than the phase has"},
      {"mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.noComplete.shared.b64 %rd1, [%b], 1;", "completes the phase"},
      {"mbarrier.init.shared.b64 [%b], 1; mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 1048576;",
       "more than 2^20-1 bytes awaited"},
      {"mbarrier.init.shared.b64 [%b], 1; mbarrier.complete_tx.shared::cta.b64 [%b], 1048576;", "more bytes came"},
      {"mbarrier.init.shared.b64 [%b+4], 1;", "misaligned shared write of 8 bytes"},
  };
  for (const Misuse &misuse : cases) {
    Session session;
    DeviceArray<uint32_t> out(1);
    EXPECT_NE(run(kernel(misuse.body), {out.address}, 1, 1), CUDA_SUCCESS) << misuse.body;
    EXPECT_NE(lastReport().find(misuse.text), std::string::npos) << lastReport();
    EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    CUcontext context;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }
}

TEST(EmulatorMbarrier, RefusesWhatItDoesNotKnow) {
  Session session;
  for (const char *body : {"mbarrier.arrive_drop.noComplete.shared.b64 %rd1, [%b], 1;",
                           "mbarrier.arrive.expect_tx.noComplete.shared.b64 _, [%b], 1;", "mbarrier.frob.b64 [%b];"}) {
    const std::string why = refusal(kernel(body));
    EXPECT_NE(why.find("the emulator does not support 'mbarrier."), std::string::npos) << why;
  }
}

TEST(EmulatorCluster, ABlockAloneIsAClusterOfOne) {
  Session session;
  EXPECT_EQ(result("mov.pred %p0, %is_explicit_cluster; selp.u32 %r0, 1, 0, %p0;"), 0u);
  EXPECT_EQ(result("mov.u32 %r0, %cluster_nctarank;"), 1u);
  EXPECT_EQ(result("mov.u32 %r0, %cluster_ctarank;"), 0u);
  EXPECT_EQ(result("mov.u32 %r0, %cluster_nctaid.y;"), 1u);
  EXPECT_EQ(result("mov.u32 %r0, %nclusterid.x;"), 1u);
  Loaded loaded = load(kernel("mov.pred %is_explicit_cluster, %p0;"));
  EXPECT_NE(loaded.log.find("'%is_explicit_cluster' cannot be written"), std::string::npos) << loaded.log;
}

} // namespace
} // namespace tenon::emulator::test
