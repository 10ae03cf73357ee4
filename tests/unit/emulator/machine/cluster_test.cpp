// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters: whose shared memory an address names, barriers of the cluster, what is an error.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

/// Clusters of two blocks; `body` has %rank, %r0 (the result of each thread) and `box`, 32 words of shared memory.
std::string kernel(const std::string &body, const std::string &directives = ".reqnctapercluster 2, 1, 1") {
  return header("sm_90") + ".shared .align 16 .b32 box[32];\n.visible .entry k(.param .u64 p)\n" + directives +
         "\n{\n  .reg .b64 %rd<8>;\n  .reg .b32 %r<8>, %rank, %t, %b;\n  .reg .pred %p<4>;\n"
         "  ld.param.u64 %rd0, [p];\n  mov.u32 %rank, %cluster_ctarank;\n  mov.u32 %t, %tid.x;\n  mov.u32 %b, "
         "%ctaid.x;\n"
         "  mov.u32 %r0, 0;\n  " +
         body +
         "\n  mad.lo.u32 %b, %b, 32, %t;\n  mad.wide.u32 %rd0, %b, 4, %rd0;\n  st.global.u32 [%rd0], %r0;\n  ret;\n}\n";
}
const char *const kSync = "barrier.cluster.arrive; barrier.cluster.wait;\n";

TEST(EmulatorCluster, AddressesNameTheirBlock) {
  Session session;
  DeviceArray<uint32_t> out(128);
  // Every thread of rank r writes 100 r + t at home, and reads at the other's.
  std::string fill =
      "mad.lo.u32 %r1, %rank, 100, %t;\n shl.b32 %r2, %t, 2;\n mov.u32 %r3, box;\n add.u32 %r3, %r3, %r2;\n"
      "st.shared.u32 [%r3], %r1;\n";
  std::string other = "xor.b32 %r4, %rank, 1;\n";
  const std::string reads[] = {
      "mapa.shared::cluster.u32 %r5, %r3, %r4; ld.shared::cluster.u32 %r0, [%r5];\n",
      "mapa.shared::cluster.u32 %r5, box, %r4; add.u32 %r5, %r5, %r2; ld.shared::cluster.u32 %r0, [%r5];\n",
      "mapa.shared::cluster.u32 %r5, %r3, %r4; cvt.u64.u32 %rd1, %r5; cvta.shared::cluster.u64 %rd1, %rd1;\n"
      "ld.u32 %r0, [%rd1];\n",
      "cvt.u64.u32 %rd1, %r3; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd2, %rd1, %r4; ld.u32 %r0, [%rd2];\n",
      "mapa.shared::cluster.u32 %r5, %r3, %r4; atom.shared::cluster.add.u32 %r0, [%r5], 0;\n"};
  for (const std::string &read : reads) {
    ASSERT_EQ(run(kernel(fill + kSync + other + read + kSync), {out.address}, 4), CUDA_SUCCESS) << read << lastReport();
    std::vector<uint32_t> got = out.read();
    for (uint32_t k = 0; k < 128; ++k)
      EXPECT_EQ(got[k], (k / 32 % 2 ^ 1) * 100 + k % 32) << read << " word " << k;
  }
  // The rank of an address, of one's own and of the other's.
  std::string ranks = "mov.u32 %r3, box; getctarank.shared::cluster.u32 %r1, %r3; xor.b32 %r4, %rank, 1;\n"
                      "mapa.shared::cluster.u32 %r5, %r3, %r4; getctarank.shared::cluster.u32 %r2, %r5;\n"
                      "mad.lo.u32 %r0, %r1, 10, %r2;";
  ASSERT_EQ(run(kernel(ranks), {out.address}, 2), CUDA_SUCCESS);
  EXPECT_EQ(out.read()[0], 1u);
  EXPECT_EQ(out.read()[32], 10u);
}

TEST(EmulatorCluster, SpacesAreToldApart) {
  Session session;
  DeviceArray<uint32_t> out(64);
  std::string body = "xor.b32 %r4, %rank, 1; mapa.shared::cluster.u32 %r5, box, %r4; cvt.u64.u32 %rd1, %r5;\n"
                     "cvta.shared::cluster.u64 %rd1, %rd1; isspacep.shared::cta %p0, %rd1;\n"
                     "isspacep.shared::cluster %p1, %rd1; selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 2, 0, %p1;\n"
                     "add.u32 %r0, %r0, %r1; mapa.u64 %rd2, %rd1, %rank; isspacep.shared %p2, %rd2;\n"
                     "selp.u32 %r1, 4, 0, %p2; add.u32 %r0, %r0, %r1;";
  ASSERT_EQ(run(kernel(body), {out.address}, 2), CUDA_SUCCESS);
  EXPECT_EQ(out.read(), std::vector<uint32_t>(64, 6));
}

TEST(EmulatorCluster, SpecialRegistersCountBlocks) {
  Session session;
  DeviceArray<uint32_t> out(128);
  std::string body = "mov.u32 %r1, %clusterid.x; mov.u32 %r2, %nclusterid.x; mov.u32 %r3, %cluster_ctaid.x;\n"
                     "mov.u32 %r4, %cluster_nctarank; mad.lo.u32 %r0, %r1, 10, %r2; mad.lo.u32 %r0, %r0, 10, %r3;\n"
                     "mad.lo.u32 %r0, %r0, 10, %r4; mad.lo.u32 %r0, %r0, 10, %rank;";
  ASSERT_EQ(run(kernel(body), {out.address}, 4), CUDA_SUCCESS);
  std::vector<uint32_t> got = out.read(), want = {2020, 2121, 12020, 12121};
  for (uint32_t b = 0; b < 4; ++b)
    EXPECT_EQ(got[32 * b], want[b]);
}

TEST(EmulatorCluster, BarriersOrderTwoWarpsOfTwoBlocks) {
  Session session;
  DeviceArray<uint32_t> out(128);
  // Relaxed and aligned forms; threads that leave early do not hold the others up.
  std::string body = "setp.gt.u32 %p0, %t, 40; @%p0 exit;\nxor.b32 %r4, %rank, 1; mov.u32 %r3, box;\n"
                     "mapa.shared::cluster.u32 %r5, %r3, %r4;\nsetp.eq.u32 %p1, %t, 0;\n"
                     "@%p1 st.shared::cluster.u32 [%r5], 7;\nbarrier.cluster.arrive.release;\n"
                     "barrier.cluster.wait.acquire;\nld.shared.u32 %r0, [box];\nbarrier.cluster.arrive.relaxed;\n"
                     "barrier.cluster.wait;\n";
  ASSERT_EQ(run(kernel(body), {out.address}, 2, 64), CUDA_SUCCESS) << lastReport();
  EXPECT_EQ(out.read()[31], 7u);
  EXPECT_EQ(out.read()[32], 7u);
}

TEST(EmulatorCluster, StoresAndReductionsReportToAnMbarrier) {
  Session session;
  DeviceArray<uint32_t> out(64);
  // Thread 0 of rank 1 sends four words, a reduction of one of them, and the expectation of 20 bytes, to rank 0.
  std::string body =
      "setp.ne.u32 %p0, %t, 0; @%p0 bra S;\nmov.u32 %r6, box; add.u32 %r6, %r6, 64; st.shared.v4.u32 [box], {1, 2, 3, "
      "4};\n"
      "mbarrier.init.shared.b64 [%r6], 1; fence.mbarrier_init.release.cluster;\nS:\n" +
      std::string(kSync) +
      "mov.u32 %r6, box; add.u32 %r6, %r6, 64;\nsetp.eq.u32 %p0, %rank, 0; @%p0 bra W;\n"
      "setp.ne.u32 %p0, %t, 0; @%p0 bra E;\nmapa.shared::cluster.u32 %r1, box, 0; add.u32 %r2, %r1, 64;\n"
      "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r2], 20;\n"
      "mov.u32 %r3, 7; mov.u32 %r4, 8;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r1], {%r3, %r4, %r3, %r4}, [%r2];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+4], %r3, [%r2];\nbra E;\n"
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r6], 0;\n@!%p1 bra W;\n"
      "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [box];\nmad.lo.u32 %r0, %r1, 100, %r2; mad.lo.u32 %r0, %r0, 100, %r3;\n"
      "mad.lo.u32 %r0, %r0, 100, %r4;\nE:\n" +
      kSync;
  ASSERT_EQ(run(kernel(body), {out.address}, 2), CUDA_SUCCESS) << lastReport();
  EXPECT_EQ(out.read()[0], 7150708u);
  EXPECT_EQ(out.read()[31], 7150708u);
  EXPECT_EQ(out.read()[32], 0u);
}

TEST(EmulatorCluster, ReportsMisuse) {
  struct Misuse {
    std::string body;
    const char *text;
    CUresult code;
  };
  const Misuse cases[] = {
      {"mapa.shared::cluster.u32 %r5, box, 3; ld.shared::cluster.u32 %r0, [%r5];", "block 3 of a cluster of 2",
       CUDA_ERROR_ILLEGAL_ADDRESS},
      {"xor.b32 %r4, %rank, 1; mapa.shared::cluster.u32 %r5, box, %r4; ld.shared.u32 %r0, [%r5];",
       "of the cluster, which has 128 bytes", CUDA_ERROR_ILLEGAL_ADDRESS},
      {"mapa.shared::cluster.u32 %r5, box, 1; ld.shared::cluster.u32 %r0, [%r5+128];", "block 1 of the cluster",
       CUDA_ERROR_ILLEGAL_ADDRESS},
      {"setp.eq.u32 %p0, %rank, 0; @%p0 exit; mapa.shared::cluster.u32 %r5, box, 0;\n"
       "ld.shared::cluster.u32 %r0, [%r5];",
       "has exited", CUDA_ERROR_ILLEGAL_ADDRESS},
      {"barrier.cluster.arrive; barrier.cluster.arrive;", "a second time", CUDA_ERROR_ILLEGAL_INSTRUCTION},
      {"barrier.cluster.wait;", "without barrier.cluster.arrive", CUDA_ERROR_ILLEGAL_INSTRUCTION},
      {"setp.eq.u32 %p0, %rank, 0; @!%p0 bra B; barrier.cluster.arrive; barrier.cluster.wait; bra E;\n"
       "B: bar.sync 1, 64; E:",
       "deadlock in the cluster of blocks (0,0,0) to (1,0,0)", CUDA_ERROR_LAUNCH_TIMEOUT}};
  for (const Misuse &misuse : cases) {
    Session session;
    DeviceArray<uint32_t> out(64);
    EXPECT_EQ(run(kernel(misuse.body), {out.address}, 2), misuse.code) << misuse.body;
    EXPECT_NE(lastReport().find(misuse.text), std::string::npos) << misuse.body << "\n" << lastReport();
    cuDevicePrimaryCtxReset(0);
  }
}

TEST(EmulatorCluster, TheDeviceSaysThatItHasThem) {
  Session session;
  int clusters = 0, maps = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetAttribute(&maps, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0), CUDA_SUCCESS);
  EXPECT_EQ(clusters, 1);
  EXPECT_EQ(maps, 1);
}

TEST(EmulatorCluster, LaunchesWantWhatTheKernelWasCompiledFor) {
  Session session;
  Loaded loaded = load(kernel(""));
  ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  CUfunction function;
  ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  int width = 0, depth = 0;
  EXPECT_EQ(cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetAttribute(&depth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, function), CUDA_SUCCESS);
  EXPECT_EQ(width, 2);
  EXPECT_EQ(depth, 1);
  DeviceArray<uint32_t> out(128);
  void *parameters[] = {&out.address};
  EXPECT_EQ(cuLaunchKernel(function, 3, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {4, 1, 1};
  CUlaunchConfig config = {4, 1, 1, 32, 1, 1, 0, nullptr, &attribute, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, function, parameters, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  config.numAttrs = 0;
  EXPECT_EQ(cuLaunchKernelEx(&config, function, parameters, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

} // namespace
} // namespace tenon::emulator::test
