// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks that keep shadow memory, as a program meets them.
#include "tests/unit/emulator/check/checked.h"

namespace tenon::emulator::test {
namespace {

const char *kTile = ".shared .align 4 .b8 tile[256];\n.shared .align 4 .b8 other[64];\n";
// tile[t] = t; barrier; out[t] = tile[63-t]
std::string exchange(const std::string &between) {
  return "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], %r0;\n" + between +
         "sub.u32 %r3, 63, %r0;\nmad.lo.u32 %r4, %r3, 4, %r1;\nld.shared.u32 %r5, [%r4];\n"
         "mad.wide.u32 %rd2, %r0, 4, %rd0;\nst.global.u32 [%rd2], %r5;\n";
}

TEST_F(Checked, MemoryThatNothingWroteIsReported) {
  CUdeviceptr memory;
  ASSERT_EQ(cuMemAlloc(&memory, 256), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(memory, 1, 200), CUDA_SUCCESS);
  std::string report = failure("mad.wide.u32 %rd2, %r0, 4, %rd0;\nld.global.u32 %r1, [%rd2];\n", {memory, 0});
  EXPECT_HAS(report, "thread (50,0,0) of block (0,0,0): [uninitialised] global read of 4 bytes");
  EXPECT_HAS(report, "nothing has written the byte 200 bytes into the 256-byte allocation");
  EXPECT_HAS(report, "ld.global.u32 %r1, [%rd2]");
}

TEST_F(Checked, CopiesOfUnwrittenBytesAreNoReads) {
  CUdeviceptr from, to;
  ASSERT_EQ(cuMemAlloc(&from, 256), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&to, 256), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(from, 1, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoD(to, from, 256), CUDA_SUCCESS);
  std::vector<uint8_t> host(16);
  ASSERT_EQ(cuMemcpyDtoH(host.data(), to, 16), CUDA_SUCCESS);
  expectClean("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];\n", {to, 0});
  EXPECT_HAS(failure("ld.global.u32 %r1, [%rd0+16];\n", {to, 0}), "[uninitialised]");
}

TEST_F(Checked, ResultsThatNothingWroteAreReported) {
  const auto filled = [] {
    CUdeviceptr memory;
    EXPECT_EQ(cuMemAlloc(&memory, 256), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8(memory, 1, 200), CUDA_SUCCESS);
    return memory;
  };
  const std::string wanted = "[results] copy to the host of 256 bytes at ",
                    where = "nothing has written the byte 200 bytes into the 256-byte allocation";
  std::vector<uint8_t> host(256);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), filled(), 256), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_HAS(lastReport(), wanted);
  EXPECT_HAS(lastReport(), where);
  EXPECT_EQ(host[0], 0);
  revive();
  void *pinned = nullptr; // of the driver, and the host's all the same
  ASSERT_EQ(cuMemAllocHost(&pinned, 256), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAsync(CUdeviceptr(pinned), filled(), 256, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_HAS(lastReport(), where);
  revive();
  const CUdeviceptr whole = filled();
  ASSERT_EQ(cuMemcpyDtoH(host.data(), whole, 200), CUDA_SUCCESS);
  expectClean("mad.wide.u32 %rd2, %r0, 4, %rd0;\nst.global.u32 [%rd2], %r0;\n", {whole, 0});
  EXPECT_EQ(cuMemcpyDtoH(host.data(), whole, 256), CUDA_SUCCESS);
}

TEST_F(Checked, StoresOfKernelsInitialise) {
  CUdeviceptr memory;
  ASSERT_EQ(cuMemAlloc(&memory, 256), CUDA_SUCCESS);
  expectClean("mad.wide.u32 %rd2, %r0, 4, %rd0;\nst.global.u32 [%rd2], %r0;\nld.global.u32 %r1, [%rd2];\n",
              {memory, 0});
  expectClean("mad.wide.u32 %rd2, %r0, 4, %rd0;\nld.global.u32 %r1, [%rd2];\n", {memory, 0});
}

TEST_F(Checked, SharedMemoryIsUninitialisedInEveryBlock) {
  // Only block 0 writes; what block 1 finds there is nobody's.
  std::string said = report("mov.u32 %r6, %ctaid.x;\nsetp.eq.u32 %p0, %r6, 0;\nmov.u32 %r1, tile;\n"
                            "mad.lo.u32 %r2, %r0, 4, %r1;\n@%p0 st.shared.u32 [%r2], %r0;\nld.shared.u32 %r3, [%r2];\n"
                            "add.u32 %r3, %r3, 1;\nst.shared.u32 [%r2], %r3;\n",
                            kTile, 2);
  EXPECT_HAS(said, "of block (1,0,0): [uninitialised] shared read: nothing had written the byte 0 bytes into shared "
                   "variable 'tile' of 256 bytes yet");
  EXPECT_HAS(said, "ld.shared.u32 %r3, [%r2]");
  EXPECT_HAS(said, "it was written later by thread (0,0,0) of block (1,0,0)\n  at ");
  EXPECT_HAS(report("atom.shared.add.u32 %r1, [tile], 1;\n", kTile),
             "[uninitialised] shared write of 4 bytes at 0x400: nothing has written the byte");
}

TEST_F(Checked, ABarrierThatComesTooLateIsUninitialised) {
  // Warp 0 reads what warp 1 writes behind it, both before the barrier.
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 32;\n@%p0 ld.shared.u32 %r1, [tile];\n@!%p0 st.shared.u32 [tile], 1;\n"
                    "bar.sync 0;\n",
                    kTile),
             "[uninitialised] shared read: nothing had written the byte");
}

TEST_F(Checked, ReadsBeyondWhatWasFilledAreANote) {
  testing::internal::CaptureStderr();
  expectNothing("setp.lt.u32 %p0, %r0, 63;\nmov.u32 %r1, other;\nmad.lo.u32 %r2, %r0, 0, %r1;\n@%p0 bra SKIP;\n"
                "ld.shared.u32 %r3, [%r2+16];\nSKIP:\nbar.sync 0;\nst.shared.u32 [other+16], 1;\n",
                kTile);
  expectNothing("ld.shared.u32 %r3, [other+20];\n", kTile);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_HAS(said, "note: kernel 'k': [uninitialised] shared memory is read that nothing writes");
  EXPECT_HAS(said, "ld.shared.u32 %r3, [other+20]");
}

TEST_F(Checked, ABarrierOrdersABlock) {
  DeviceArray<int> out(64);
  expectClean(exchange("bar.sync 0;\n"), {out.address, 0}, kTile);
  expectClean(exchange("barrier.sync.aligned 0, 64;\n"), {out.address, 0}, kTile);
}

TEST_F(Checked, AMissingBarrierIsReportedWithBothSides) {
  DeviceArray<int> out(64);
  // Written before, so that what the barrier should have ordered is not uninitialised.
  std::string zero = "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], 0;\nbar.sync 0;\n";
  std::string report = failure(zero + exchange(""), {out.address, 0}, kTile);
  EXPECT_HAS(report, "[races] shared read of 4 bytes");
  EXPECT_HAS(report, "is not ordered after the write by thread (");
  EXPECT_HAS(report, "st.shared.u32 [%r2], %r0");
  EXPECT_HAS(report, "ld.shared.u32 %r5, [%r4]");
  EXPECT_HAS(report, "a bar.sync (__syncthreads) or another barrier of both threads is missing");
}

TEST_F(Checked, LanesOfAWarpAreNotInStep) {
  DeviceArray<int> out(64);
  std::string swap = "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], %r0;\n";
  std::string rest = "xor.b32 %r3, %r0, 1;\nmad.lo.u32 %r4, %r3, 4, %r1;\nld.shared.u32 %r5, [%r4];\n";
  expectClean(swap + "bar.warp.sync 0xffffffff;\n" + rest, {out.address, 0}, kTile);
  EXPECT_HAS(failure(swap + rest, {out.address, 0}, kTile), "a __syncwarp or a barrier is missing between them");
}

TEST_F(Checked, BlocksAreNotOrdered) {
  DeviceArray<int> out(64);
  std::string report = failure("st.global.u32 [%rd0], %r0;\n", {out.address, 0}, {}, 2, 1);
  EXPECT_HAS(report, "[races] global write");
  EXPECT_HAS(report, "blocks of a launch run in any order");
}

TEST_F(Checked, AtomicsOfBlocksDoNotRace) {
  DeviceArray<int> sum(1);
  expectClean("red.global.add.u32 [%rd0], %r0;\n", {sum.address, 0}, {}, 4);
}

TEST_F(Checked, ALastBlockThatWaitedForAllMayReadTheirResults) {
  DeviceArray<int> partial(8), count(1);
  // partial[block] = block; fence; the last to count reads them all.
  std::string body = "mov.u32 %r1, %ctaid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd0;\nst.global.u32 [%rd2], %r1;\n"
                     "FENCE atom.global.add.u32 %r2, [%rd1], 1;\nmembar.gl;\nsetp.ne.u32 %p0, %r2, 7;\n@%p0 bra done;\n"
                     "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd0];\ndone:\n";
  std::string fenced = body, open = body;
  fenced.replace(fenced.find("FENCE"), 5, "membar.gl;");
  open.replace(open.find("FENCE"), 5, "");
  expectClean(fenced, {partial.address, count.address}, {}, 8, 1);
  DeviceArray<int> zero(1);
  EXPECT_HAS(failure(open, {partial.address, zero.address}, {}, 8, 1), "[races] global read of 16 bytes");
}

TEST_F(Checked, AnAsynchronousCopyIsNotThereBeforeTheWait) {
  DeviceArray<int> in(64), out(64);
  std::string copy = "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nmad.wide.u32 %rd2, %r0, 4, %rd0;\n"
                     "cp.async.ca.shared.global [%r2], [%rd2], 4;\ncp.async.commit_group;\n";
  std::string read = "ld.shared.u32 %r5, [%r2];\n";
  expectClean(copy + "cp.async.wait_group 0;\n" + read, {in.address, out.address}, kTile);
  // Written before, so that the bytes are not uninitialised.
  EXPECT_HAS(failure("mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], %r0;\n" + copy + read,
                     {in.address, out.address}, kTile),
             "a wait for the asynchronous copy");
}

TEST_F(Checked, TheNeighbourOfASharedVariableIsNotIt) {
  DeviceArray<int> out(64);
  std::string report = failure("st.shared.u32 [tile+256], %r0;\n", {out.address, 0}, kTile, 1, 1);
  EXPECT_HAS(report, "out-of-bounds shared write of 4 bytes");
  EXPECT_HAS(report, "0 bytes past the end of shared variable 'tile' of 256 bytes");
}

TEST_F(Checked, TheGapsAreNoSharedMemoryOfTheKernel) {
  Loaded loaded = load(kernel("st.shared.u32 [tile], %r0;\nst.shared.u32 [other], %r0;\n", kTile));
  ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  CUfunction function;
  int bytes = 0;
  ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  ASSERT_EQ(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 320);
}

TEST_F(Checked, AParameterMayBeReadOnly) {
  void *found = nullptr;
  ASSERT_EQ(cuGetProcAddress("tenonEmulatorReadOnlyParameter", &found, 13000, 0, nullptr), CUDA_SUCCESS);
  auto readOnly = reinterpret_cast<bool (*)(CUfunction, size_t, const char *)>(found);
  Loaded loaded = load(kernel("mad.wide.u32 %rd2, %r0, 4, %rd1;\nst.global.u32 [%rd2], %r0;\n"));
  ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  CUfunction function;
  ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  EXPECT_FALSE(readOnly(nullptr, 0, "binding 0"));
  EXPECT_FALSE(readOnly(function, 2, "binding 2"));
  ASSERT_TRUE(readOnly(function, 0, "binding 0"));
  DeviceArray<int> memory(64);
  auto launch = [&](CUdeviceptr a, CUdeviceptr b) {
    void *parameters[] = {&a, &b};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    return cuCtxSynchronize();
  };
  EXPECT_EQ(launch(memory.address, memory.address + 128), CUDA_SUCCESS); // parts of one allocation
  EXPECT_EQ(launch(memory.address, memory.address), CUDA_SUCCESS);       // also a writable parameter: in place
  EXPECT_NE(launch(memory.address + 64, memory.address), CUDA_SUCCESS);
  EXPECT_HAS(lastReport(), "thread (16,0,0) of block (0,0,0): [readonly] global write of 4 bytes");
  EXPECT_HAS(lastReport(), "0 bytes into binding 0, which is declared read-only");
}

TEST_F(Checked, APointerInAStructMayBeReadOnly) {
  void *found = nullptr;
  ASSERT_EQ(cuGetProcAddress("tenonEmulatorReadOnlyPointer", &found, 13000, 0, nullptr), CUDA_SUCCESS);
  auto readOnly = reinterpret_cast<bool (*)(CUfunction, size_t, size_t, const char *)>(found);
  Loaded loaded = load(".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".visible .entry k(.param .u32 n, .param .align 8 .b8 p[20]) {\n.reg .b64 %rd<2>;\n"
                       "ld.param.u64 %rd1, [p+8];\nst.global.u32 [%rd1], 7;\nret;\n}\n");
  ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  CUfunction function;
  ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  EXPECT_FALSE(readOnly(function, 0, 0, "binding 0")); // 4 bytes
  EXPECT_FALSE(readOnly(function, 1, 4, "binding 0"));
  EXPECT_FALSE(readOnly(function, 1, 16, "binding 0"));
  EXPECT_FALSE(readOnly(function, 2, 0, "binding 0"));
  ASSERT_TRUE(readOnly(function, 1, 0, "binding 0"));
  DeviceArray<int> memory(64), other(64);
  auto launch = [&](CUdeviceptr first, CUdeviceptr second) {
    int n = 0;
    CUdeviceptr pointers[3] = {first, second, 0};
    void *parameters[] = {&n, pointers};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    return cuCtxSynchronize();
  };
  EXPECT_EQ(launch(memory.address, other.address), CUDA_SUCCESS);
  EXPECT_EQ(launch(memory.address, memory.address), CUDA_SUCCESS);      // in place
  EXPECT_EQ(launch(memory.address, memory.address + 16), CUDA_SUCCESS); // where the next pointer of the launch points
  ASSERT_TRUE(readOnly(function, 1, 8, "binding 1"));
  EXPECT_NE(launch(memory.address, other.address), CUDA_SUCCESS);
  EXPECT_HAS(lastReport(), "0 bytes into binding 1, which is declared read-only");
}

// A map of the tensor that a read-only pointer leads to is no second, writable pointer.
TEST_F(Checked, WhatATensorMapLeadsToMayBeReadOnly) {
  void *found = nullptr;
  ASSERT_EQ(cuGetProcAddress("tenonEmulatorReadOnlyPointer", &found, 13000, 0, nullptr), CUDA_SUCCESS);
  auto readOnly = reinterpret_cast<bool (*)(CUfunction, size_t, size_t, const char *)>(found);
  Loaded loaded = load(".version 8.0\n.target sm_90\n.address_size 64\n"
                       ".visible .entry k(.param .u64 p, .param .align 64 .b8 map[128]) {\n.reg .b64 %rd<2>;\n"
                       "ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 7;\nret;\n}\n");
  ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  CUfunction function;
  ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  DeviceArray<int> memory(64), other(64);
  CUtensorMap map;
  const cuuint64_t size = 64;
  const cuuint32_t box = 64, step = 1;
  ASSERT_EQ(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, reinterpret_cast<void *>(memory.address),
                                   &size, nullptr, &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_SUCCESS);
  auto launch = [&](CUdeviceptr pointer) {
    void *parameters[] = {&pointer, &map};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    return cuCtxSynchronize();
  };
  ASSERT_TRUE(readOnly(function, 0, 0, "binding 0"));
  EXPECT_EQ(launch(memory.address), CUDA_SUCCESS); // in place: the map may be one that is stored through
  ASSERT_TRUE(readOnly(function, 1, 0, "binding 0"));
  EXPECT_NE(launch(memory.address), CUDA_SUCCESS);
  EXPECT_HAS(lastReport(), "0 bytes into binding 0, which is declared read-only");
}

TEST_F(Checked, ContextsSayWhatLeaked) {
  CUdeviceptr kept, freed;
  ::testing::internal::CaptureStderr();
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS); // what other tests left
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ::testing::internal::GetCapturedStderr();
  ASSERT_EQ(cuMemAlloc(&kept, 96), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&freed, 80), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(freed), CUDA_SUCCESS);
  ::testing::internal::CaptureStderr();
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_HAS(text, "leak: 0 bytes into the 96-byte allocation at 0x");
  EXPECT_HAS(text, "(by cuMemAlloc");
  EXPECT_FALSE(has(text, "80-byte")) << text;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST_F(Checked, MbarriersOrderWhoWaits) {
  DeviceArray<int> out(64);
  std::string object = ".shared .align 8 .b64 object;\n" + std::string(kTile);
  std::string init = "setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [object], 64;\nbar.sync 0;\n";
  std::string wait = "mbarrier.arrive.shared.b64 %rd3, [object];\n"
                     "again:\nmbarrier.test_wait.shared.b64 %p1, [object], %rd3;\n@!%p1 bra again;\n";
  expectClean(init + exchange(wait), {out.address, 0}, object);
}

TEST_F(Checked, WhatIsKnownSinceTheArrivalAtAClusterStaysKnown) {
  // Between its arrival and its wait a block meets: behind the wait that is not forgotten.
  const std::string text = header("sm_90") +
                           ".shared .b32 box[64];\n.visible .entry k(.param .u64 a)\n"
                           "{\n.reg .b32 %r<5>;\nmov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nmov.u32 %r2, box;\n"
                           "barrier.cluster.arrive.relaxed;\nadd.u32 %r3, %r2, %r1;\nst.shared.u32 [%r3], %r0;\n"
                           "bar.sync 0;\nbarrier.cluster.wait;\nxor.b32 %r1, %r1, 252;\nadd.u32 %r3, %r2, %r1;\n"
                           "ld.shared.u32 %r4, [%r3];\nret;\n}\n";
  EXPECT_EQ(run(text, {0}, 1, 64), CUDA_SUCCESS) << lastReport();
}

TEST_F(Checked, AnMbarrierThatNobodyWaitsForOrdersNothing) {
  DeviceArray<int> out(64);
  std::string object = ".shared .align 8 .b64 object;\n" + std::string(kTile);
  std::string init = "setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [object], 64;\n"
                     "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], 0;\nbar.sync 0;\n";
  EXPECT_HAS(failure(init + exchange("mbarrier.arrive.shared.b64 %rd3, [object];\n"), {out.address, 0}, object),
             "[races] shared read");
}

// Values that meet in one place.
TEST_F(Checked, LanesMayWriteTheSameValue) {
  DeviceArray<uint32_t> out(1);
  testing::internal::CaptureStderr();
  expectClean("setp.gt.u32 %p0, %r0, 5;\n@%p0 st.global.u32 [%rd0], 7;\n", {out.address, 0});
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_HAS(said, "tenon emulator: note: kernel 'k': [races] threads write the same value to one place");
  EXPECT_HAS(said, "st.global.u32 [%rd0], 7");
  EXPECT_EQ(out.read()[0], 7u);
  // In shared memory, by vectors, and by two instructions.
  expectClean("st.shared.v2.u32 [tile], {1, 2};\nbar.sync 0;\nld.shared.u32 %r1, [tile];\n", {0, 0}, kTile);
  expectClean("setp.lt.u32 %p0, %r0, 32;\n@%p0 st.global.u32 [%rd0], 3;\n@!%p0 st.global.u32 [%rd0], 3;\n",
              {out.address, 0});
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 32;\n@%p0 st.global.u32 [%rd0], 3;\n@!%p0 st.global.u32 [%rd0], 4;\n"),
             "[races] global write of 4 bytes");
}

TEST_F(Checked, WarpsMayStoreTheSameMatrix) {
  DeviceArray<float> out(8 * 32);
  auto fragment = [](const std::string &value) {
    return ".reg .f32 %f<2>;\nsetp.lt.u32 %p0, %r0, 32;\nselp.f32 %f0, 0f40400000, " + value + ", %p0" +
           ";\nwmma.store.d.sync.aligned.row.m8n32k16.global.f32 [%rd0], {%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};\n";
  };
  expectClean(fragment("0f40400000"), {out.address, 0}, {}, 1, 128);
  EXPECT_EQ(out.read()[255], 3.0f);
  EXPECT_HAS(report(fragment("0f40800000")), "[races] global write of 4 bytes");
  // Rows of eight elements in shared memory.
  auto rows = [](const std::string &value) {
    std::string text = kernel("mov.u32 %r1, tile;\nand.b32 %r2, %r0, 7;\nmad.lo.u32 %r1, %r2, 16, %r1;\nmov.u32 %r3, " +
                                  value + ";\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r3};\n",
                              kTile);
    return text.replace(0, header("sm_80").size(), header("sm_90"));
  };
  EXPECT_EQ(run(rows("7"), {0, 0}, 1, 64), CUDA_SUCCESS) << lastReport();
  EXPECT_NE(run(rows("%r0"), {0, 0}, 1, 64), CUDA_SUCCESS);
  EXPECT_HAS(lastReport(), "[races] shared write of 16 bytes");
}

TEST_F(Checked, APlainReadMayFeedACompareAndSwap) {
  DeviceArray<uint32_t> out(1);
  const std::string add = "ld.global.u32 %r1, [%rd0];\nAGAIN:\nmov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 2;\n"
                          "atom.global.cas.b32 %r1, [%rd0], %r2, %r3;\nsetp.ne.u32 %p0, %r1, %r2;\n@%p0 bra AGAIN;\n";
  expectClean(add, {out.address, 0}, {}, 4, 64);
  EXPECT_EQ(out.read()[0], 4 * 64 * 2u);
  // A plain read that another value than the swapped one depends on is a race as before.
  EXPECT_HAS(report("ld.global.u32 %r1, [%rd0];\nmad.wide.u32 %rd2, %r0, 4, %rd1;\nst.global.u32 [%rd2], %r1;\n"
                    "atom.global.add.u32 %r2, [%rd0], 1;\n"),
             "[races] global ");
}

TEST_F(Checked, AShuffleTellsWhatALaneAcquired) {
  // Warp 1 writes data, releases a flag; lane 0 of warp 0 acquires it; the other lanes hear of it by shfl.
  const std::string body = R"(
    shr.u32 %r1, %r0, 5;
    setp.eq.u32 %p0, %r1, 1;
    @!%p0 bra READ;
    setp.eq.u32 %p1, %r0, 32;
    @%p1 st.shared.u32 [tile], 42;
    @%p1 st.release.cta.shared.u32 [tile+4], 1;
    bra END;
  READ:
    mov.u32 %r2, 0;
    setp.ne.u32 %p2, %r0, 0;
    @%p2 bra MEET;
  WAIT:
    ld.acquire.cta.shared.u32 %r2, [tile+4];
    setp.eq.u32 %p3, %r2, 0;
    @%p3 bra WAIT;
  MEET:
    BETWEEN
    ld.shared.u32 %r4, [tile];
  END:
)";
  auto with = [&](const std::string &between) {
    std::string text = "setp.eq.u32 %p4, %r0, 0;\n@%p4 st.shared.u32 [tile+4], 0;\nbar.sync 0;\n" + body;
    return text.replace(text.find("BETWEEN"), 7, between);
  };
  expectClean(with("shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;"), {0, 0}, kTile);
  EXPECT_HAS(report(with(""), kTile), "thread (1,0,0) of block (0,0,0): [uninitialised] shared read");
  // Of the lanes of its own warp it tells nothing.
  EXPECT_HAS(report("mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], %r0;\n"
                    "shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;\nxor.b32 %r3, %r0, 1;\nmad.lo.u32 %r4, %r3, 4, %r1;\n"
                    "ld.shared.u32 %r5, [%r4];\n",
                    kTile),
             "[races] shared read of 4 bytes");
}

TEST_F(Checked, AnMbarrierMayBeInvalidatedByTheLastThatWaited) {
  // Who is the last says a counter, whose atomics order nothing.
  expectClean("setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [tile], 64;\n@%p0 st.shared.u32 [tile+8], 0;\n"
              "bar.sync 0;\nmbarrier.arrive.shared.b64 %rd2, [tile];\nWAIT:\n"
              "mbarrier.test_wait.shared.b64 %p1, [tile], %rd2;\n@!%p1 bra WAIT;\n"
              "atom.shared.add.u32 %r1, [tile+8], 1;\nsetp.eq.u32 %p2, %r1, 63;\n"
              "@%p2 mbarrier.inval.shared.b64 [tile];\n",
              {0, 0}, kTile);
}

TEST_F(Checked, ParametersAreReadThroughRegisters) {
  DeviceArray<uint64_t> out(64);
  // A struct by value, its members by address, as compilers read arrays in it.
  const std::string ptx = header("sm_80") + R"(
.visible .entry k(.param .align 8 .b8 s[16], .param .u64 b)
{
.reg .b64 %rd<9>;
.reg .b32 %r<9>;
mov.u32 %r0, %tid.x;
and.b32 %r1, %r0, 1;
mov.b64 %rd0, s;
mad.wide.u32 %rd1, %r1, 8, %rd0;
ld.param.u64 %rd2, [%rd1];
ld.param.u64 %rd3, [b];
mad.wide.u32 %rd4, %r0, 8, %rd3;
st.global.u64 [%rd4], %rd2;
ret;
}
)";
  Loaded loaded = load(ptx);
  ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  CUfunction function;
  ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  uint64_t both[2] = {11, 22};
  void *parameters[] = {both, &out.address};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS) << lastReport();
  EXPECT_EQ(out.read()[0], 11u);
  EXPECT_EQ(out.read()[33], 22u);
  cuModuleUnload(loaded.module);
}

TEST_F(Checked, ReportsCountAndAreReadable) {
  // 64 threads, one pair of instructions: once, with a count.
  std::string said = report("st.global.u32 [%rd0], %r0;\n");
  EXPECT_EQ(said.find("is not ordered after"), said.rfind("is not ordered after")) << said;
  EXPECT_HAS(said, "and 62 times more between these two instructions");
  said = report("mad.wide.u32 %rd2, %r0, 8, %rd0;\nadd.u64 %rd2, %rd2, 4096;\nst.global.v2.u32 [%rd2], {%r0, %r0};\n",
                {}, 1, 32);
  EXPECT_HAS(said, "out-of-bounds global write of 8 bytes");
  EXPECT_HAS(said, "and 31 more lanes of its warp");
}

} // namespace
} // namespace tenon::emulator::test
