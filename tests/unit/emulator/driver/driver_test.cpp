// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver API's own behaviour: arguments, handles, limits, logs. Error codes were compared with an H200
// (driver 13.0).
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

std::string kernel(const std::string &directives, const std::string &body, const std::string &target = "sm_75") {
  return header(target) + ".visible .entry k(.param .u64 p)\n" + directives +
         "\n{\n  .reg .b64 %rd<3>;\n  .reg .b32 %r<3>;\n  ld.param.u64 %rd1, [p];\n  " + body + "\n  ret;\n}\n";
}
CUfunction function(const Loaded &loaded) {
  CUfunction found = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&found, loaded.module, "k"), CUDA_SUCCESS) << loaded.log;
  return found;
}
CUresult launch(CUfunction f, unsigned blocks, unsigned threads, unsigned shared = 0) {
  CUdeviceptr p = 0;
  void *parameters[] = {&p};
  return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared, nullptr, parameters, nullptr);
}
/// After a fault: a fresh context for the session.
void revive() {
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  CUcontext context;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST(EmulatorDriver, SaysThatItIsAnEmulator) {
  Session session;
  char name[128];
  ASSERT_EQ(cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(name), "Tenon emulator sm_90 (CPU)");
  int value = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 227 << 10);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuDriverGetVersion(&value), CUDA_SUCCESS);
  EXPECT_EQ(value, 13000);
}

TEST(EmulatorDriver, WantsACurrentContext) {
  setenv("TENON_EMULATOR_QUIET", "1", 0);
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUdeviceptr address;
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorDriver, RefusesBadHandlesAndNulls) {
  Session session;
  int rubbish[64] = {};
  EXPECT_EQ(cuModuleUnload(reinterpret_cast<CUmodule>(rubbish)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<CUstream>(rubbish)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(reinterpret_cast<CUevent>(rubbish)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(rubbish), 1, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleLoadData(nullptr, "x"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address;
  EXPECT_EQ(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&address, size_t(1) << 60), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
  void *out;
  EXPECT_EQ(cuGetProcAddress("cuNoSuchFunction", &out, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &out, 13000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(out, reinterpret_cast<void *>(&cuMemAlloc));
}

TEST(EmulatorDriver, CopiesAndFillsCheckTheirRanges) {
  Session session;
  DeviceArray<uint32_t> array(16);
  std::vector<uint32_t> host(32, 7);
  EXPECT_EQ(cuMemcpyHtoD(array.address, host.data(), 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), array.address + 4, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(array.address, 0x01020304, 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(array.address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(array.address, 0x01020304, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD16(array.address + 4, 0xaaaa, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(array.address + 8, 0xbb, 1), CUDA_SUCCESS);
  auto got = array.read();
  EXPECT_EQ(got[0], 0x01020304u);
  EXPECT_EQ(got[1], 0x0102aaaau);
  EXPECT_EQ(got[2], 0x010203bbu);
  void *pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 64), CUDA_SUCCESS);
  memset(pinned, 5, 64); // the host may touch pinned memory
  EXPECT_EQ(cuMemcpyDtoD(array.address, reinterpret_cast<CUdeviceptr>(pinned), 64), CUDA_SUCCESS);
  EXPECT_EQ(array.read()[3], 0x05050505u);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorDriver, LaunchLimits) {
  Session session;
  CUfunction plain = function(load(kernel("", "")));
  EXPECT_EQ(launch(plain, 1, 32), CUDA_SUCCESS);
  EXPECT_EQ(launch(plain, 0, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(plain, 1, 1025), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(function(load(kernel(".maxntid 64, 1, 1", ""))), 1, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(function(load(kernel(".reqntid 64, 1, 1", ""))), 1, 32), CUDA_ERROR_INVALID_VALUE);
  // More than 48 KiB of dynamic shared memory has to be asked for, and not beyond the device's limit.
  EXPECT_EQ(launch(plain, 1, 32, 49153), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000), CUDA_SUCCESS);
  EXPECT_EQ(launch(plain, 1, 32, 49153), CUDA_SUCCESS);
  size_t offset = 1, size = 0;
  EXPECT_EQ(cuFuncGetParamInfo(plain, 0, &offset, &size), CUDA_SUCCESS);
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(size, 8u);
  EXPECT_EQ(cuFuncGetParamInfo(plain, 1, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorDriver, RefusesImagesAsADeviceDoes) {
  Session session;
  EXPECT_EQ(load(".version 8.6\n.target sm_100\n.address_size 64\n").result, CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(load(".version 9.9\n.target sm_80\n.address_size 64\n").result, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(load("hello world").result, CUDA_ERROR_INVALID_IMAGE);
  Loaded cubin = load(std::string("\177ELF") + std::string(60, 'x'));
  EXPECT_EQ(cubin.result, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(cubin.log.find("the emulator runs PTX only, this image is a cubin"), std::string::npos);
  Loaded tooNew = load(".version 8.6\n.target sm_100\n.address_size 64\n");
  EXPECT_NE(tooNew.log.find("does not run on 'Tenon emulator sm_90 (CPU)'"), std::string::npos) << tooNew.log;
}

TEST(EmulatorDriver, NamesTheFileOfAModule) {
  Session session;
  const std::string wrong = header() + ".visible .entry k()\n{\n  add.u32;\n  ret;\n}\n";
  void *function = nullptr;
  ASSERT_EQ(cuGetProcAddress("tenonEmulatorNameModule", &function, 13000, 0, nullptr), CUDA_SUCCESS);
  reinterpret_cast<void (*)(const char *)>(function)("kernels/scale.ptx");
  EXPECT_EQ(load(wrong).log.find("kernels/scale.ptx:6:3: error: 'add.u32' has 0 operands"), 0u);
  EXPECT_EQ(load(wrong).log.find("ptx-module-"), 0u); // the name was for one

  // A file is named by itself.
  const std::string path = testing::TempDir() + "tenon_module.ptx";
  FILE *file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs((header() + ".visible .entry k()\n{\n  frob.u32;\n  ret;\n}\n").c_str(), file);
  fclose(file);
  CUmodule module;
  CUfunction kernel;
  ASSERT_EQ(cuModuleLoad(&module, path.c_str()), CUDA_SUCCESS);
  lastReport();
  EXPECT_EQ(cuModuleGetFunction(&kernel, module, "k"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(lastReport(), path + ":6:3: error: the emulator does not support 'frob.u32' (kernel 'k')\n");
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  remove(path.c_str());
  EXPECT_EQ(cuModuleLoad(&module, path.c_str()), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuModuleLoad(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorDriver, ListsKernelsThatCannotRunInTheInfoLog) {
  Session session;
  const std::string ptx = header() + ".visible .entry k()\n{\n  frob.u32;\n  ret;\n}\n";
  std::vector<char> log(4096);
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUmodule module;
  ASSERT_EQ(cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values), CUDA_SUCCESS);
  EXPECT_NE(std::string(log.data()).find("kernel 'k' cannot run:\nptx-module-"), std::string::npos) << log.data();
  EXPECT_NE(std::string(log.data()).find(":6:3: error: the emulator does not support 'frob.u32'"), std::string::npos);
}

struct FaultCase {
  const char *body;
  CUresult code;
  const char *text;
};

TEST(EmulatorDriver, ReportsEveryKindOfFault) {
  const FaultCase cases[] = {
      {"mov.u64 %rd2, 0; st.global.u32 [%rd2], 1;", CUDA_ERROR_ILLEGAL_ADDRESS,
       "out-of-bounds global write of 4 bytes at 0x0: a null pointer"},
      {"st.global.u32 [%rd1+2], 1;", CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned global write of 4 bytes"},
      {"mov.u32 %r1, 60000; st.shared.u32 [%r1], 1;", CUDA_ERROR_ILLEGAL_ADDRESS,
       "bytes past the end of the block's 0 bytes of shared memory"},
      {".shared .b8 s[64]; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1+66];", CUDA_ERROR_ILLEGAL_ADDRESS,
       "2 bytes past the end of the block's 64 bytes of shared memory"},
      {"add.s64 %rd1, %rd1, 1099511627776; ld.u8 %r1, [%rd1];", CUDA_ERROR_ILLEGAL_ADDRESS, "global read of 1 byte"},
      {"mov.u64 %rd2, 0x7fffffffffffffff; ld.global.u8 %r1, [%rd2];", CUDA_ERROR_ILLEGAL_ADDRESS,
       "global read of 1 byte at 0x7fffffffffffffff"},
      {"trap;", CUDA_ERROR_LAUNCH_FAILED, "the kernel executed 'trap'"},
      {"mov.u32 %r1, 33; mov.u32 %r2, 1; bar.sync %r2, %r1;", CUDA_ERROR_ILLEGAL_INSTRUCTION,
       "which is not a multiple of the warp size"},
      {"mov.u64 %rd2, 4096; P: .callprototype _ (); call %rd2, (), P;", CUDA_ERROR_ILLEGAL_INSTRUCTION,
       "indirect call of a value that is no function"},
      {"mov.u32 %r1, %laneid; bar.warp.sync 1;", CUDA_ERROR_ILLEGAL_INSTRUCTION, "does not hold lane 1"},
      {"bar.sync 1, 64;", CUDA_ERROR_LAUNCH_TIMEOUT, "32 threads wait at"},
  };
  for (const FaultCase &fault : cases) {
    Session session;
    DeviceArray<uint32_t> memory(32);
    EXPECT_EQ(run(kernel("", fault.body), {memory.address}), fault.code) << fault.body;
    EXPECT_NE(lastReport().find(fault.text), std::string::npos) << lastReport();
    revive();
  }
}

/// By its name, and by its address.
TEST(EmulatorDriver, CallsWhatAnAliasStandsFor) {
  Session session;
  DeviceArray<uint32_t> memory(32);
  const std::string text =
      header() +
      ".visible .func f(.param .b64 p, .param .b32 v)\n{\n  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n"
      "  ld.param.b64 %rd1, [p];\n  ld.param.b32 %r1, [v];\n  st.global.b32 [%rd1], %r1;\n  ret;\n}\n"
      ".visible .func g(.param .b64 p, .param .b32 v);\n.alias g, f;\n"
      ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<4>;\n  ld.param.u64 %rd1, [p];\n"
      "  { .param .b64 x; .param .b32 v; st.param.b64 [x], %rd1; st.param.b32 [v], 5; call.uni g, (x, v); }\n"
      "  add.s64 %rd2, %rd1, 4;\n  mov.u64 %rd3, g;\n"
      "  { .param .b64 x; .param .b32 v; st.param.b64 [x], %rd2; st.param.b32 [v], 7;\n"
      "    P: .callprototype _ (.param .b64 _, .param .b32 _); call %rd3, (x, v), P; }\n  ret;\n}\n";
  EXPECT_EQ(run(text, {memory.address}), CUDA_SUCCESS) << lastReport();
  const std::vector<uint32_t> out = memory.read();
  EXPECT_EQ(out[0], 5u);
  EXPECT_EQ(out[1], 7u);
}

/// Also of functions that keep nothing in their frames.
TEST(EmulatorDriver, CallsWithoutEndOverflowTheStack) {
  Session session;
  DeviceArray<uint32_t> memory(32);
  const std::string text = header() + ".func f();\n.func g()\n{\n  call.uni f, ();\n  ret;\n}\n"
                                      ".func f()\n{\n  call.uni g, ();\n  ret;\n}\n"
                                      ".visible .entry k(.param .u64 p)\n{\n  call.uni f, ();\n  ret;\n}\n";
  EXPECT_EQ(run(text, {memory.address}), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(lastReport().find("stack overflow: "), std::string::npos) << lastReport();
  revive();
}

TEST(EmulatorDriver, ReportsUseAfterFreeAndConstants) {
  Session session;
  CUdeviceptr freed;
  ASSERT_EQ(cuMemAlloc(&freed, 256), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(freed), CUDA_SUCCESS);
  EXPECT_EQ(run(kernel("", "ld.global.u32 %r1, [%rd1+8];"), {freed}), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("8 bytes into the 256-byte allocation at 0x"), std::string::npos) << lastReport();
  EXPECT_NE(lastReport().find(", which was freed"), std::string::npos) << lastReport();
  revive();
  std::string constant = header() +
                         ".const .align 4 .b32 table[4] = {1, 2, 3, 4};\n.visible .entry k()\n{\n  .reg .b64 %rd<3>;\n"
                         "  mov.u64 %rd1, table; cvta.const.u64 %rd2, %rd1; st.u32 [%rd2+4], 9; ret;\n}\n";
  EXPECT_EQ(run(constant, {}), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("variable 'table'"), std::string::npos) << lastReport();
  revive();
}

TEST(EmulatorDriver, StreamsAndEvents) {
  Session session;
  CUstream stream;
  CUevent before, after;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&before, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&after, 0), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, before, after), CUDA_ERROR_INVALID_HANDLE); // not recorded
  EXPECT_EQ(cuEventRecord(before, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(nullptr, before, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(function(load(kernel("", ""))), 4, 32), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(after, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, before, after), CUDA_SUCCESS);
  EXPECT_GT(milliseconds, 0);
  int called = 0;
  EXPECT_EQ(cuLaunchHostFunc(stream, [](void *data) { ++*static_cast<int *>(data); }, &called), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(cuEventDestroy(before), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(before), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(after), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

// The environment is read once, so each value needs a process of its own.
TEST(EmulatorDriver, RefusesAnUnknownArchitecture) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("TENON_EMULATOR_SM", "42", 1);
        _exit(cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "TENON_EMULATOR_SM=42 is not understood; wanted one of 70, 75, 80");
}

TEST(EmulatorDriver, NamesTheLevelsItKnows) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("TENON_EMULATOR_LEVEL", "v5", 1);
        _exit(cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "TENON_EMULATOR_LEVEL=v5 is not understood; wanted v2 or v3");
}

TEST(EmulatorDriver, RefusesAnUnknownCheck) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("TENON_EMULATOR_CHECK", "races,bounds", 1);
        _exit(cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "TENON_EMULATOR_CHECK: 'bounds' is not a check; wanted a list of 'memory'");
}

TEST(EmulatorDriver, EmulatesTheArchitectureAskedFor) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("TENON_EMULATOR_SM", "86", 1);
        setenv("TENON_EMULATOR_DRIVER_VERSION", "12.4", 1);
        unsetenv("TENON_EMULATOR_QUIET");
        int version = 0;
        int shared = 0;
        bool ok =
            cuInit(0) == CUDA_SUCCESS && cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 12040 &&
            cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0) == CUDA_SUCCESS &&
            shared == 99 << 10;
        _exit(ok ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "Tenon emulator sm_86 \\(CPU\\): kernels run on the CPU");
}

} // namespace
} // namespace tenon::emulator::test
