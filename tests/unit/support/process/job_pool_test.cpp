// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/job_pool.h"

#include <atomic>
#include <gtest/gtest.h>
#include <set>
#include <thread>

namespace tenon {
namespace {

constexpr size_t kStackBytes = size_t(1) << 20;

TEST(JobPoolTest, RunsEveryJobOnce) {
  for (size_t threads : {1, 2, 3, 16}) {
    JobPool pool(threads, kStackBytes);
    std::vector<std::atomic<int>> runs(1000);
    for (size_t round = 1; round <= 2; ++round) {
      for (std::atomic<int> &run : runs)
        pool.add([&run] { ++run; });
      pool.wait();
      for (const std::atomic<int> &run : runs)
        ASSERT_EQ(run, int(round)) << threads;
    }
  }
}

TEST(JobPoolTest, EndsWithItsJobs) {
  std::atomic<int> runs = 0;
  {
    JobPool pool(4, kStackBytes);
    for (int i = 0; i < 100; ++i)
      pool.add([&runs] { ++runs; });
  }
  EXPECT_EQ(runs, 100);
}

TEST(JobPoolTest, OneThreadIsTheCallers) {
  JobPool pool(1, kStackBytes);
  std::set<std::thread::id> seen;
  for (int i = 0; i < 10; ++i)
    pool.add([&seen] { seen.insert(std::this_thread::get_id()); });
  pool.wait();
  EXPECT_EQ(seen, std::set<std::thread::id>{std::this_thread::get_id()});
}

// Two jobs that wait for each other end only where they run side by side.
TEST(JobPoolTest, RunsSideBySide) {
  JobPool pool(2, kStackBytes);
  std::atomic<int> here = 0;
  for (int i = 0; i < 2; ++i)
    pool.add([&here] {
      ++here;
      while (here < 2)
        std::this_thread::yield();
    });
  pool.wait();
  EXPECT_EQ(here, 2);
}

TEST(JobPoolTest, WorksWithoutThreads) {
  JobPool pool(4, size_t(1) << 60); // no system has such a stack
  int runs = 0;
  for (int i = 0; i < 10; ++i)
    pool.add([&runs] { ++runs; });
  pool.wait();
  EXPECT_EQ(runs, 10);
}

TEST(JobPoolTest, KeepsFewJobsWaiting) {
  JobPool pool(2, kStackBytes);
  std::atomic<int> alive = 0, most = 0;
  struct Token {
    explicit Token(std::atomic<int> &alive, std::atomic<int> &most) : alive(alive) {
      if (int now = ++alive; now > most)
        most = now;
    }
    ~Token() { --alive; }
    std::atomic<int> &alive;
  };
  for (int i = 0; i < 200; ++i)
    pool.add([token = std::make_shared<Token>(alive, most)] { std::this_thread::yield(); });
  pool.wait();
  EXPECT_EQ(alive, 0);
  EXPECT_LE(most, 8);
}

} // namespace
} // namespace tenon
