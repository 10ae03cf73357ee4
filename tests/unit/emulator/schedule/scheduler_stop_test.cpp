// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that somebody ends, and processes that fork: the environment and the fork are a process's own.
#include "tests/unit/emulator/harness.h"

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tenon::emulator::test {
namespace {

#define EXPECT_IN_A_PROCESS(body, said)                                                                                \
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";                                                              \
  EXPECT_EXIT(_exit((body) ? 0 : 1), ::testing::ExitedWithCode(0), said)

/// Warp 0 waits at a barrier, warp 1 runs in circles.
std::string spinning(const std::string &name = "k") {
  return header() + ".file 1 \"spin.cu\"\n.visible .entry " + name +
         "()\n{\n.reg .b32 %r<3>;\n.reg .pred %p;\nmov.u32 %r0, %tid.x;\nsetp.lt.u32 %p, %r0, 32;\n@%p bra WAIT;\n"
         "LOOP:\n.loc 1 7 3\nadd.u32 %r1, %r1, 1;\nbra LOOP;\nWAIT:\nbar.sync 0;\nret;\n}\n";
}

CUresult launchOne(const std::string &ptx, const char *name, unsigned blocks, unsigned threads) {
  Loaded loaded = load(ptx);
  CUfunction function;
  if (loaded.result != CUDA_SUCCESS || cuModuleGetFunction(&function, loaded.module, name) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_PTX;
  const CUresult result = cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, nullptr, nullptr);
  return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

bool has(const std::string &part) {
  const bool found = lastReport().find(part) != std::string::npos;
  if (!found)
    fprintf(stderr, "no '%s' in\n%s\n", part.c_str(), lastReport().c_str());
  return found;
}

bool timesOut(const char *threads, const std::string &seconds) {
  setenv("TENON_EMULATOR_TIMEOUT", seconds.c_str(), 1);
  setenv("TENON_EMULATOR_THREADS", threads, 1);
  Session session;
  return launchOne(spinning("_Z5spinsPf"), "_Z5spinsPf", 2, 96) == CUDA_ERROR_LAUNCH_TIMEOUT &&
         has("kernel 'spins(float*)' has not ended after " + seconds + " s (TENON_EMULATOR_TIMEOUT); ") &&
         has("warp 1 of block (0,0,0), warp 2 of block (0,0,0)") && has(": runs at\n    ptx-module-1:") &&
         has("source: spin.cu:7:3") && has("warp 0 of block (0,0,0)") &&
         has(": waits for the others at\n    ptx-module-1:") && has(": bar.sync 0");
}

TEST(EmulatorStop, ATimeoutSaysWhereWarpsStand) {
  EXPECT_IN_A_PROCESS(timesOut("1", "0.2"),
                      "tenon emulator: error: kernel 'spins\\(float\\*\\)' has not ended after 0.2 s");
  // On a busy machine the second thread begins late.
  EXPECT_IN_A_PROCESS(timesOut("2,together", "2"), "has not ended after 2 s");
}

/// A loop around a barrier: every turn is new progress.
bool barriersTimeOut(const std::string &barrier) {
  setenv("TENON_EMULATOR_TIMEOUT", "0.2", 1);
  Session session;
  const std::string loop = header("sm_90") + ".visible .entry k()\n{\nLOOP:\n" + barrier + "\nbra LOOP;\n}\n";
  return launchOne(loop, "k", 1, 64) == CUDA_ERROR_LAUNCH_TIMEOUT && has("kernel 'k' has not ended after 0.2 s");
}

TEST(EmulatorStop, ALoopAroundABarrierEnds) {
  EXPECT_IN_A_PROCESS(barriersTimeOut("bar.sync 0;"), "has not ended after 0.2 s");
  EXPECT_IN_A_PROCESS(barriersTimeOut("barrier.cluster.arrive;\nbarrier.cluster.wait;"), "has not ended after 0.2 s");
}

bool loopsEndInTime() {
  setenv("TENON_EMULATOR_TIMEOUT", "30", 1);
  Session session;
  const std::string loop = header() +
                           ".visible .entry k()\n{\n.reg .b32 %r;\n.reg .pred %p;\nLOOP:\nadd.u32 %r, %r, 1;\n"
                           "setp.lt.u32 %p, %r, 20000;\n@%p bra LOOP;\nret;\n}\n";
  return launchOne(loop, "k", 10, 64) == CUDA_SUCCESS;
}

TEST(EmulatorStop, LaunchesThatEndInTimeAreLeftAlone) {
  EXPECT_IN_A_PROCESS(loopsEndInTime(), "");
}

bool waitingForAnMbarrierTimesOut() {
  setenv("TENON_EMULATOR_TIMEOUT", "0.1", 1);
  Session session;
  // Asked for ever, while another warp runs: no deadlock that could be seen.
  const std::string ptx =
      header("sm_80") +
      ".visible .entry k()\n{\n.shared .align 8 .b64 m;\n.reg .b32 %r<3>;\n.reg .b64 %rd;\n.reg .pred %p;\n"
      "mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p, %r0, 32;\n@%p bra SPIN;\nmbarrier.init.shared.b64 [m], 64;\n"
      "ASK:\nmbarrier.test_wait.parity.shared.b64 %p, [m], 0;\n@!%p bra ASK;\nSPIN:\nbra SPIN;\n}\n";
  return launchOne(ptx, "k", 1, 64) == CUDA_ERROR_LAUNCH_TIMEOUT && has("mbarrier.test_wait");
}

TEST(EmulatorStop, ATimeoutEndsThreadsThatAsk) {
  EXPECT_IN_A_PROCESS(waitingForAnMbarrierTimesOut(), "has not ended after 0.1 s");
}

bool interrupts() {
  Session session;
  void *entry = nullptr;
  cuGetProcAddress("tenonEmulatorInterrupt", &entry, 13000, 0, nullptr);
  auto interrupt = reinterpret_cast<bool (*)()>(entry);
  if (interrupt()) // nothing runs
    return false;
  std::thread other([&] {
    while (!interrupt())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const CUresult result = launchOne(spinning(), "k", 1, 64);
  other.join();
  return result == CUDA_ERROR_LAUNCH_TIMEOUT &&
         has("kernel 'k' was interrupted; 1 block was under way, 0 of 1 blocks had ended");
}

TEST(EmulatorStop, AnInterruptSaysWhereWarpsStand) {
  EXPECT_IN_A_PROCESS(interrupts(), "kernel 'k' was interrupted");
}

bool childIsRefused() {
  Session session;
  DeviceArray<uint32_t> memory(4);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20); // a child that hangs is a failure too
    int count = 0;
    CUdeviceptr address = 0;
    uint32_t word = 0;
    void *entry = nullptr;
    const bool refused = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuMemAlloc(&address, 16) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuMemcpyDtoH(&word, memory.address, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED &&
                         cuGetProcAddress("cuInit", &entry, 13000, 0, nullptr) == CUDA_ERROR_NOT_INITIALIZED;
    exit(refused ? 0 : 1); // with its destructors
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0 && memory.read().size() == 4;
}

bool childOfABusyProcessIsRefused() {
  Session session;
  std::thread busy([] {
    CUcontext context;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    launchOne(spinning(), "k", 1, 64); // holds the driver's lock
  });
  void *entry = nullptr;
  cuGetProcAddress("tenonEmulatorInterrupt", &entry, 13000, 0, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = -1;
  const bool refused = waitpid(child, &status, 0) == child && status == 0;
  while (!reinterpret_cast<bool (*)()>(entry)())
    std::this_thread::yield();
  busy.join();
  return refused;
}

bool childMayBeTheFirst() {
  const pid_t child = fork(); // nobody has called cuInit
  if (child == 0) {
    setenv("TENON_EMULATOR_QUIET", "1", 1);
    _exit(cuInit(0) == CUDA_SUCCESS ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST(EmulatorFork, TheChildGetsAnErrorFromEveryCall) {
  EXPECT_IN_A_PROCESS(childIsRefused(), "");
  EXPECT_IN_A_PROCESS(childOfABusyProcessIsRefused(), "");
  EXPECT_IN_A_PROCESS(childMayBeTheFirst(), "");
}

TEST(EmulatorRun, AGridOfEmptyBlocksCostsNothing) {
  Session session;
  Loaded loaded = load(header() + ".visible .entry k()\n{\nret;\n}\n");
  CUfunction function;
  ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
  // Two thousand million blocks: minutes, were they started one by one.
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(cuLaunchKernel(function, 0x7fffffff, 1, 1, 1024, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  cuModuleUnload(loaded.module);
}

} // namespace
} // namespace tenon::emulator::test
