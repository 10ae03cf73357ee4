// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/workers.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tenon::emulator {
namespace {

using namespace std::chrono_literals;

/// Bodies that return when `wanted` of them run at once, or after a while.
uint32_t together(Workers &workers, uint32_t others, uint32_t wanted) {
  std::atomic<uint32_t> begun = 0;
  workers.run(others, [&] {
    ++begun;
    auto until = std::chrono::steady_clock::now() + 10s;
    while (begun < wanted && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
  });
  return begun;
}

TEST(EmulatorWorkers, AllRunAtOnceAndStayForTheNextLaunch) {
  Workers workers;
  EXPECT_EQ(workers.threads(), 0u);
  EXPECT_EQ(together(workers, 3, 4), 4u);
  EXPECT_EQ(workers.threads(), 3u);
  for (int k = 0; k < 20; ++k)
    EXPECT_EQ(together(workers, 3, 4), 4u);
  EXPECT_EQ(workers.threads(), 3u);
  EXPECT_EQ(together(workers, 1, 2), 2u); // no more than wanted
  EXPECT_EQ(workers.threads(), 3u);
}

TEST(EmulatorWorkers, WhoComesLateIsNotWaitedFor) {
  // Bodies that have nothing to do: the caller's own returns at once, and whoever has not begun does not begin.
  Workers workers;
  std::atomic<uint64_t> sum = 0, inside = 0;
  for (uint64_t round = 0; round < 2000; ++round) {
    workers.run(3, [&] {
      ++inside;
      sum += round;
      --inside;
    });
    ASSERT_EQ(inside, 0u);
    ASSERT_GE(sum, round);
    ASSERT_LE(sum, 4 * round);
    sum = 0;
  }
}

TEST(EmulatorWorkers, TogetherNobodyBeginsAlone) {
  Workers workers;
  workers.setTogether(true);
  for (int round = 0; round < 50; ++round) {
    std::atomic<uint32_t> begun = 0;
    workers.run(3, [&] { ++begun; });
    ASSERT_EQ(begun, 4u);
  }
}

TEST(EmulatorWorkers, AChildProcessHasItsOwn) {
  Workers workers;
  ASSERT_EQ(together(workers, 2, 3), 3u);
  pid_t child = fork();
  if (child == 0)
    _exit(workers.threads() == 0 && together(workers, 2, 3) == 3 && workers.threads() == 2 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(together(workers, 2, 3), 3u);
}

} // namespace
} // namespace tenon::emulator
