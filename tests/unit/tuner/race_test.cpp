// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On the emulator: what takes part, and what does not. Its times are numbers like any others here.
#include "tuner/race.h"

#include "compiler/candidates.h"

#include <gtest/gtest.h>

namespace tenon::tuner {
namespace {

class RaceTest : public testing::Test {
protected:
  void SetUp() override {
    Result<runtime::cuda::DeviceSelector> selector = runtime::cuda::DeviceSelector::parse("emulator");
    ASSERT_TRUE(selector.ok());
    Result<std::shared_ptr<runtime::Device>> device =
        runtime::Device::open(*selector, runtime::cuda::DriverSearch::fromEnvironment());
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
    options_.rounds = 3;
  }

  /// f(x) of each element of a vector.
  static Racer racer(const std::string &operations, const std::string &size = "64") {
    const std::string type = "tensor<" + size + "xf32>";
    const compiler::Contraction contraction{"",
                                            "",
                                            "func.func @contraction(%x: " + type + ") -> " + type + " {\n" +
                                                operations + " : " + type + "\nreturn %r : " + type + "\n}\n",
                                            {},
                                            {},
                                            false};
    compiler::CompileOptions options;
    options.targets = {abi::TargetArch{80}};
    Racer made;
    std::optional<std::vector<uint8_t>> program = compiler::compileAlone(contraction, nullptr, options, made.problem);
    EXPECT_TRUE(program) << made.problem;
    if (program)
      made.program = *program;
    return made;
  }

  std::shared_ptr<runtime::Device> device_;
  RaceOptions options_;
};

constexpr char kSquare[] = "%r = arith.mulf %x, %x";

TEST_F(RaceTest, TimesThoseThatComputeTheSame) {
  std::vector<Racer> racers = {racer(kSquare), racer(kSquare)};
  const Result<uint64_t> calls = race(device_, racers, options_);
  ASSERT_TRUE(calls.ok()) << calls.status().message();
  EXPECT_GE(*calls, 1u);
  for (const Racer &each : racers) {
    EXPECT_EQ(each.problem, "");
    EXPECT_FALSE(each.isWrong);
    EXPECT_GT(each.nanoseconds, 0);
  }
}

TEST_F(RaceTest, LeavesOutWhoComputesSomethingElse) {
  std::vector<Racer> racers = {racer(kSquare), racer("%r = arith.addf %x, %x"), racer(kSquare)};
  ASSERT_TRUE(race(device_, racers, options_).ok());
  EXPECT_TRUE(racers[1].isWrong);
  EXPECT_TRUE(racers[1].problem.starts_with("result 0: 6")) << racers[1].problem;
  EXPECT_EQ(racers[1].nanoseconds, 0);
  EXPECT_GT(racers[2].nanoseconds, 0);
}

TEST_F(RaceTest, LeavesOutWhatDoesNotRun) {
  std::vector<Racer> racers = {racer(kSquare), Racer{std::vector<uint8_t>(64)}, Racer{{}, "it does not compile"}};
  ASSERT_TRUE(race(device_, racers, options_).ok());
  EXPECT_NE(racers[1].problem, "");
  EXPECT_FALSE(racers[1].isWrong);
  EXPECT_EQ(racers[2].problem, "it does not compile");
}

TEST_F(RaceTest, NeedsTheFirst) {
  std::vector<Racer> racers = {Racer{std::vector<uint8_t>(64)}, racer(kSquare)};
  EXPECT_FALSE(race(device_, racers, options_).ok());
}

TEST_F(RaceTest, AsksForSizesThatAreNotKnown) {
  std::vector<Racer> racers = {racer(kSquare, "?")};
  const Result<uint64_t> refused = race(device_, racers, options_);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.status().message()).find("--size=N"), std::string::npos);
  options_.size = 100;
  EXPECT_TRUE(race(device_, racers, options_).ok());
}

} // namespace
} // namespace tenon::tuner
