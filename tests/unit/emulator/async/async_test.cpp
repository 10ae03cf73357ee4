// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bulk and tensor copies from PTX: completion by mbarrier and by group, reductions, misuse; and what a program sees
// that forgets to wait, when copies run late.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

/// One thread; [%rd0] is 1024 bytes of global memory, `box` 1024 bytes of shared memory, `bar` an mbarrier for one
/// arrival, %b its address, %s that of box.
std::string kernel(const std::string &body, const std::string &target = "sm_90a") {
  return header(target) +
         ".shared .align 1024 .b8 box[1024];\n.shared .align 8 .b64 bar;\n.visible .entry k(.param .u64 p)\n{\n"
         "  .reg .b64 %rd<8>;\n  .reg .b32 %r<8>, %b, %s;\n  .reg .pred %p<4>;\n  .reg .b16 %h<4>;\n  .reg .f32 "
         "%f<8>;\n"
         "  ld.param.u64 %rd0, [p];\n  mov.u32 %b, bar;\n  mov.u32 %s, box;\n  mbarrier.init.shared.b64 [%b], 1;\n"
         "  add.u64 %rd1, %rd0, 512;\n  " +
         body + "\n  ret;\n}\n";
}
const std::string kLoad = "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64;\n"
                          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd0], 64, [%b];\n";
const std::string kWait = "W: mbarrier.try_wait.parity.shared.b64 %p0, [%b], 0;\n@!%p0 bra W;\n";
const std::string kStore = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%s], 64;\n";
const std::string kCommit = "cp.async.bulk.commit_group;\n";

std::vector<uint32_t> numbers() {
  std::vector<uint32_t> out(256);
  for (uint32_t k = 0; k < 256; ++k)
    out[k] = k < 128 ? k + 1 : 0;
  return out;
}
/// Words of [%rd0] after the kernel.
std::vector<uint32_t> results(const std::string &body) {
  DeviceArray<uint32_t> memory(numbers());
  EXPECT_EQ(run(kernel(body), {memory.address}, 1, 1), CUDA_SUCCESS) << body << lastReport();
  return memory.read();
}

TEST(EmulatorAsync, CopiesThereAndBack) {
  Session session;
  std::vector<uint32_t> got = results(kLoad + kWait + kStore + kCommit + "cp.async.bulk.wait_group 0;");
  for (uint32_t k = 0; k < 17; ++k)
    EXPECT_EQ(got[128 + k], k < 16 ? k + 1 : 0);
  got = results(kLoad + kWait +
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%s], 32;\n"
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%rd1], [%s], 16;\n" +
                kCommit + "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;");
  EXPECT_EQ(got[0], 2u);
  EXPECT_EQ(got[7], 16u);
  EXPECT_EQ(got[8], 9u);
  EXPECT_EQ(got[131], 4u);
  // Within the block, and a prefetch that does nothing.
  got = results("cp.async.bulk.prefetch.L2.global [%rd0], 64;\n" + kLoad + kWait +
                "add.u32 %r1, %s, 256;\nmbarrier.arrive.expect_tx.shared.b64 _, [%b], 32;\n"
                "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%s], 32, [%b];\n"
                "V: mbarrier.try_wait.parity.shared.b64 %p0, [%b], 1;\n@!%p0 bra V;\nld.shared.u32 %r2, [%s+284];\n"
                "st.global.u32 [%rd1], %r2;");
  EXPECT_EQ(got[128], 8u);
}

TEST(EmulatorAsync, ReportsMisuse) {
  struct Misuse {
    std::string body;
    const char *text;
  };
  const std::string copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  const Misuse cases[] = {
      {copy + "[%s], [%rd0], 24, [%b];", "24 bytes, which is not a multiple of 16"},
      {copy + "[%s+8], [%rd0], 16, [%b];", "the address must be a multiple of 16"},
      {copy + "[%s], [%rd0+1008], 32, [%b];", "the source of a bulk copy"},
      {copy + "[%s+1008], [%rd0], 64, [%b];", "the destination of a bulk copy"},
      {"mbarrier.inval.shared.b64 [%b];" + copy + "[%s], [%rd0], 16, [%b];", "was not initialised"},
      {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd0, {0}], [%b];",
       "none that cuTensorMapEncodeTiled made"}};
  for (const Misuse &misuse : cases) {
    Session session;
    DeviceArray<uint32_t> memory(numbers());
    EXPECT_NE(run(kernel(misuse.body), {memory.address}, 1, 1), CUDA_SUCCESS) << misuse.body;
    EXPECT_NE(lastReport().find(misuse.text), std::string::npos) << misuse.body << "\n" << lastReport();
    cuDevicePrimaryCtxReset(0);
  }
}

TEST(EmulatorAsync, ReadsOfACopyWhatItIsToldTo) {
  // 255 words: of the last 16 bytes there are twelve, which alone are read.
  const std::string rest = "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.v4.u32 {%r2, %r3, %r4, %r5}, "
                           "[%s+16];\nst.global.u32 [%rd0], %r4;\nst.global.u32 [%rd0+4], %r5;";
  for (const char *size : {"12", "16"}) {
    Session session;
    std::vector<uint32_t> words = numbers();
    words.pop_back();
    words[254] = 7;
    DeviceArray<uint32_t> memory(words);
    const std::string body =
        std::string("mov.u32 %r1, ") + size + ";\ncp.async.cg.shared.global [%s+16], [%rd0+1008], 16, %r1;\n";
    const CUresult result = run(kernel(body + rest), {memory.address}, 1, 1);
    if (size == std::string("16")) {
      EXPECT_NE(result, CUDA_SUCCESS);
      EXPECT_NE(lastReport().find("its last 4 bytes are past the end"), std::string::npos) << lastReport();
      cuDevicePrimaryCtxReset(0);
      continue;
    }
    ASSERT_EQ(result, CUDA_SUCCESS) << lastReport();
    EXPECT_EQ(memory.read()[0], 7u);
    EXPECT_EQ(memory.read()[1], 0u);
  }
}

/// A map of 32 words in rows of 16 at `address`, boxes of 8 by 2.
CUtensorMap mapOf(CUdeviceptr address, CUtensorMapDataType type) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {16, 2}, strides[1] = {64};
  const cuuint32_t box[2] = {8, 2}, steps[2] = {1, 1};
  EXPECT_EQ(cuTensorMapEncodeTiled(&map, type, 2, reinterpret_cast<void *>(address), sizes, strides, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_SUCCESS);
  return map;
}
/// [%rd0] holds numbers(), [%rd2] a map of its first 128 bytes, in memory.
CUresult runWithMap(const std::string &body, CUtensorMapDataType type, std::vector<uint32_t> &out) {
  DeviceArray<uint32_t> memory(numbers());
  CUtensorMap map = mapOf(memory.address, type);
  DeviceArray<CUtensorMap> maps(std::vector<CUtensorMap>{map});
  std::string text = kernel("ld.param.u64 %rd2, [q];\n" + body);
  text.replace(text.find("(.param .u64 p)"), 15, "(.param .u64 p, .param .u64 q)");
  CUresult result = run(text, {memory.address, maps.address}, 1, 1);
  if (result == CUDA_SUCCESS)
    out = memory.read();
  return result;
}
const std::string kTensorLoad =
    "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd2, {4, 0}], [%b];\n" +
    kWait;

TEST(EmulatorAsync, ReducesIntoTensors) {
  Session session;
  std::vector<uint32_t> got;
  const std::string end = kCommit + "cp.async.bulk.wait_group 0;";
  const std::string reduce = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.";
  ASSERT_EQ(runWithMap(kTensorLoad + reduce + "add.tile.bulk_group [%rd2, {12, 0}], [%s];\n" + end,
                       CU_TENSOR_MAP_DATA_TYPE_UINT32, got),
            CUDA_SUCCESS)
      << lastReport();
  // Words 4 to 11 of each row are added to 12 to 15; the other half of the box is outside.
  for (uint32_t k = 0; k < 64; ++k)
    EXPECT_EQ(got[k], k + 1 + (k < 32 && k % 16 >= 12 ? k - 8 + 1 : 0)) << k;
  ASSERT_EQ(runWithMap(kTensorLoad + reduce + "max.bulk_group [%rd2, {0, 1}], [%s];\n" + end,
                       CU_TENSOR_MAP_DATA_TYPE_INT32, got),
            CUDA_SUCCESS);
  EXPECT_EQ(got, numbers());
  EXPECT_NE(runWithMap(kTensorLoad + reduce + "max.bulk_group [%rd2, {0, 1}], [%s];\n" + end,
                       CU_TENSOR_MAP_DATA_TYPE_FLOAT32, got),
            CUDA_SUCCESS);
  EXPECT_NE(lastReport().find("do not know this reduction"), std::string::npos) << lastReport();
  cuDevicePrimaryCtxReset(0);
}

TEST(EmulatorAsync, ReplacesFieldsOfMaps) {
  Session session;
  std::vector<uint32_t> got;
  // 64 bytes further on, rows of 8 words: the load gets words 20 to 27 and 28 to 35.
  const std::string replace = "add.u64 %rd3, %rd0, 64; mov.b64 %rd4, 32;\n"
                              "tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd3;\n"
                              "tensormap.replace.tile.global_stride.global.b1024.b64 [%rd2], 0, %rd4;\n"
                              "tensormap.replace.tile.global_dim.global.b1024.b32 [%rd2], 0, 64;\n"
                              "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n";
  ASSERT_EQ(runWithMap(replace + kTensorLoad +
                           "ld.shared.u32 %r1, [%s]; ld.shared.u32 %r2, [%s+60];\n"
                           "st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2;",
                       CU_TENSOR_MAP_DATA_TYPE_UINT32, got),
            CUDA_SUCCESS)
      << lastReport();
  EXPECT_EQ(got[128], 21u);
  EXPECT_EQ(got[129], 36u);
  EXPECT_NE(runWithMap("tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 1, 300;\n",
                       CU_TENSOR_MAP_DATA_TYPE_UINT32, got),
            CUDA_SUCCESS);
  cuDevicePrimaryCtxReset(0);
}

TEST(EmulatorAsync, ReportsWaitsThatNobodyEnds) {
  Session session;
  DeviceArray<uint32_t> memory(numbers());
  EXPECT_EQ(run(kernel("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128;\n"
                       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd0], 64, [%b];\n" +
                       kWait),
                {memory.address}, 2, 1),
            CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_NE(lastReport().find("deadlock in block (0,0,0)"), std::string::npos) << lastReport();
  cuDevicePrimaryCtxReset(0);
}

TEST(EmulatorAsync, RefusesOtherForms) {
  Session session;
  for (const char *body :
       {"cp.async.bulk.shared::cluster.global [%s], [%rd0], 16, [%b];",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [%s], 16, %h1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.mul.u32 [%rd0], [%s], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd0], [%s], 16;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%s], [%rd0, {0, 0}], "
        "[%b];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd0, {0}], [%b];",
        "multimem.ld_reduce.global.add.u32 %r1, [%rd0];", "st.bulk.shared::cta [%s], 16, 0;"})
    EXPECT_NE(ask(kernel(body)), CUDA_SUCCESS) << body;
}

} // namespace

TEST(EmulatorAsyncLate, ShowsMissingWaits) {
  if (!getenv("TENON_EMULATOR_CHECK"))
    GTEST_SKIP() << "runs with TENON_EMULATOR_CHECK=async, as the test unit-emulator-async does";
  Session session;
  constexpr uint32_t kPoisoned = 0xffffffff;
  const std::string read = "ld.shared.u32 %r1, [%s+4]; st.global.u32 [%rd1], %r1;";
  EXPECT_EQ(results(kLoad + kWait + read)[128], 2u);
  EXPECT_EQ(results(kLoad + read)[128], kPoisoned);
  // The source of a store is overwritten before it was read, and after.
  const std::string overwrite = "st.shared.u32 [%s+4], 99;\n";
  const std::string begin = kLoad + kWait + kStore + kCommit;
  EXPECT_EQ(results(begin + "cp.async.bulk.wait_group.read 0;\n" + overwrite)[129], 2u);
  EXPECT_EQ(results(begin + overwrite + "cp.async.bulk.wait_group 0;\n")[129], 99u);
  EXPECT_EQ(
      results(begin + "ld.global.u32 %r2, [%rd1+4]; cp.async.bulk.wait_group 0; st.global.u32 [%rd1+8], %r2;")[130],
      kPoisoned);
  // One group may stay: the first is done, the second is not.
  EXPECT_EQ(results(begin + "add.u64 %rd2, %rd1, 64;\ncp.async.bulk.global.shared::cta.bulk_group [%rd2], [%s], 64;\n" +
                    kCommit +
                    "cp.async.bulk.wait_group 1; ld.global.u32 %r2, [%rd1+4]; ld.global.u32 %r3, [%rd2+4];\n"
                    "cp.async.bulk.wait_group 0; st.global.u32 [%rd1+128], %r2; st.global.u32 [%rd1+132], %r3;")[160],
            2u);
  // cp.async
  const std::string small = "cp.async.ca.shared.global [%s], [%rd0], 8;\n";
  EXPECT_EQ(results(small + "cp.async.wait_all;\n" + read)[128], 2u);
  EXPECT_EQ(results(small + read)[128], kPoisoned);
}

} // namespace tenon::emulator::test
