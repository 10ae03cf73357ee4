// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions with blocks of which the host alone decides, on the fake driver.
#include "runtime/program/plan/unrolled_plan.h"

#include "runtime/queue/submission_queue.h"
#include "tests/unit/runtime/call_fixture.h"

namespace tenon::runtime {

static const TypeSpec kVector = {ElementType::F32, {-1}}, kCount = {ElementType::I32, {}, true};

/// times(x: tensor<?xf32>, n: i32) -> (tensor<?xf32>, tensor<?xf32>, i32): x + n * x by additions, twice, and the
/// rounds that are left, which is 0.
static FunctionSpec times() {
  FunctionSpec entry, head, body, function;
  entry.name = head.name = body.name = function.name = "times";
  entry.inputs = function.inputs = {kVector, kCount};
  entry.registers = {RegisterOp(Dim, 0, 0, 0, 0), RegisterOp(Arg, 1, 0, 0, 0)};
  entry.buffers = {{BufferSource::Input, 0}};
  entry.results = {{.type = kVector, .buffer = 0, .shape = {0}}, {.type = kCount, .scalar = 1}};
  entry.targets = {{.block = 1, .arguments = {0, 0, 1}}};
  head.inputs = {kVector, kVector, kCount}; // sum, x, n
  head.registers = {RegisterOp(Dim, 0, 0, 0, 0), RegisterOp(Arg, 2, 0, 0, 0), RegisterOp(Const, 0, 0, 0, 0),
                    RegisterOp(Lt, 2, 1, 0, 0), RegisterOp(Eq, 2, 1, 0, 0)};
  head.buffers = {{BufferSource::Input, 0}, {BufferSource::Input, 1}};
  head.results = {{.type = kVector, .buffer = 0, .shape = {0}},
                  {.type = kVector, .buffer = 1, .shape = {0}},
                  {.type = kCount, .scalar = 1}};
  head.targets = {{3, 2, {0, 1, 2}}, {.block = 3, .arguments = {0, 0, 2}}};
  body.inputs = head.inputs;
  body.registers = {RegisterOp(Dim, 0, 0, 0, 0),    RegisterOp(Arg, 2, 0, 0, 0),   RegisterOp(Const, 0, 0, 0, 1),
                    RegisterOp(Sub, 1, 2, 0, 0),    RegisterOp(Const, 0, 0, 0, 4), RegisterOp(Mul, 0, 4, 0, 0),
                    RegisterOp(CeilDiv, 0, 4, 0, 0)};
  body.buffers = {{BufferSource::Input, 0}, {BufferSource::Input, 1}, {BufferSource::Transient, 0, 5}};
  body.commands = {{.ordinal = 0,
                    .grid = {6, 2, 2},
                    .ranges = {wholeBuffer(0), wholeBuffer(1), wholeBuffer(2)},
                    .constants = {0},
                    .location = "f.mlir:5:7"}};
  body.results = {{.type = kVector, .buffer = 2, .shape = {0}},
                  {.type = kVector, .buffer = 1, .shape = {0}},
                  {.type = kCount, .scalar = 3}};
  body.targets = {{.block = 1, .arguments = {0, 1, 2}}};
  FunctionSpec end = head;
  end.targets = {};
  function.results = head.results;
  function.results[1].shape = {0};
  function.blocks = {entry, head, body, end};
  return function;
}

class UnrolledPlanTest : public CallTest {
protected:
  static Value count(int64_t value) { return Scalar{ElementType::I32, value}; }
  static const Buffer *bufferOf(const Value &value) { return std::get<Tensor>(value).buffer.get(); }
  static CUstream stream() { return reinterpret_cast<CUstream>(uintptr_t(16)); }
};

TEST_F(UnrolledPlanTest, ComputesWhatTheBlocksDo) {
  load({times()});
  for (int n : {0, 1, 5, 2, -3, 60}) {
    const Value x = vector({1, 2, 3});
    const float factor = static_cast<float>(n < 0 ? 1 : n + 1);
    for (int round = 0; round < 3; ++round) { // the first one goes from block to block
      auto results = program->call(0, std::vector<Value>{x, count(n)});
      ASSERT_OK(results.status());
      EXPECT_EQ(read((*results)[0]), (std::vector<float>{factor, 2 * factor, 3 * factor}));
      EXPECT_EQ(read((*results)[1]), (std::vector<float>{factor, 2 * factor, 3 * factor}));
      EXPECT_EQ(std::get<Scalar>((*results)[2]).bits, std::min(n, 0));
      EXPECT_NE(bufferOf((*results)[0]), bufferOf(x)) << "memory of its own";
      EXPECT_NE(bufferOf((*results)[0]), bufferOf((*results)[1])) << "each";
      EXPECT_EQ(read(x), (std::vector<float>{1, 2, 3}));
    }
  }
}

TEST_F(UnrolledPlanTest, IsOneGraphFromTheSecondCallOn) {
  load({times()});
  const std::vector<Value> inputs = {vector({1, 2, 3}), count(8)};
  ASSERT_OK(program->call(0, inputs).status());
  const size_t before = fake.count("cuGraphLaunch"), launched = fake.launches.size();
  for (int round = 0; round < 4; ++round)
    ASSERT_OK(program->call(0, inputs).status());
  EXPECT_EQ(fake.count("cuGraphLaunch") - before, 4u);
  EXPECT_EQ(fake.launches.size() - launched, 4u * 8u);
}

TEST_F(UnrolledPlanTest, RoundsShareTheirMemory) {
  load({times()});
  std::vector<Value> results = {vector(std::vector<float>(1000)), vector(std::vector<float>(1000)), count(0)};
  const Value x = vector(std::vector<float>(1000, 1));
  const uint64_t before = device->statistics().bytesLive;
  ASSERT_OK(program->callInto(0, std::vector<Value>{x, count(100)}, results, {.stream = stream()}));
  EXPECT_EQ(read(results[0]).back(), 101);
  EXPECT_LE(device->statistics().bytesLive - before, 2u * 4096u) << "a sum beside the one before it";
}

TEST_F(UnrolledPlanTest, RunsOnStreamsInCapturesAndInQueues) {
  load({times()});
  const std::vector<Value> inputs = {vector({1, 2}), count(2)};
  std::vector<Value> results = {vector({0, 0}), vector({0, 0}), count(0)};
  const size_t waited = fake.count("cuStreamSynchronize");
  ASSERT_OK(program->callInto(0, inputs, results, {.stream = stream()}));
  EXPECT_EQ(fake.count("cuStreamSynchronize"), waited);
  EXPECT_EQ(read(results[1]), (std::vector<float>{3, 6}));

  fake.capturing = stream();
  ASSERT_OK(program->callInto(0, inputs, results, {.stream = stream()}));
  fake.capturing = nullptr;
  EXPECT_EQ(read(results[0]), (std::vector<float>{3, 6}));

  auto queue = SubmissionQueue::create(device).take();
  auto timeline = Semaphore::create();
  const SemaphorePoint signal = {timeline, 1};
  std::vector<Value> submitted;
  ASSERT_OK(program->submit(*queue, {}, 0, inputs, submitted, {&signal, 1}));
  ASSERT_OK(timeline->wait(1, kWaitForever));
  EXPECT_EQ(read(submitted[0]), (std::vector<float>{3, 6}));
}

// A first call loads kernels, which a capture only allows a thread that relaxes it; and it drives no plan out.
TEST_F(UnrolledPlanTest, TheFirstCallMayBeCaptured) {
  load({times()});
  const Value x = vector({1, 2, 3});
  for (int n = 1; n <= 40; ++n) {
    fake.capturing = n % 2 == 0 ? nullptr : stream();
    std::vector<Value> results;
    ASSERT_OK(program->callInto(0, std::vector<Value>{x, count(n)}, results, {.stream = stream()}));
    fake.capturing = nullptr;
    EXPECT_EQ(read(results[0])[0], static_cast<float>(n + 1));
  }
  EXPECT_FALSE(fake.isCaptureBroken);
}

TEST_F(UnrolledPlanTest, VeryManyRoundsStayBlocks) {
  load({times()});
  const std::vector<Value> inputs = {vector({1}), count(2000)};
  for (int round = 0; round < 3; ++round) {
    auto results = program->call(0, inputs);
    ASSERT_OK(results.status());
    EXPECT_EQ(read((*results)[0]), std::vector<float>{2001});
  }
  fake.capturing = stream();
  EXPECT_STATUS(program->call(0, inputs, {.stream = stream()}).status(), FailedPrecondition,
                "runs very many blocks, so that the host goes along: it cannot be captured");
  fake.capturing = nullptr;
}

TEST_F(UnrolledPlanTest, ALoopWithoutEndIsStillTheCallersToStop) {
  FunctionSpec function = times();
  function.blocks[1].targets = {{.block = 1, .arguments = {0, 1, 2}}};
  load({function});
  for (int round = 0; round < 2; ++round)
    EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1}), count(1)}, {.mostBlocks = 10}).status(),
                  DeadlineExceeded, "has run 10 blocks");
}

TEST_F(UnrolledPlanTest, ChecksOfEveryRoundComeFirst) {
  FunctionSpec function = times();
  function.blocks[2].checks = {{3, "the last round is one too many", "f.mlir:7:3"}};
  load({function});
  EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1}), count(3)}, {.stream = stream()}).status(),
                InvalidArgument, "f.mlir:7:3: function 'times': the last round is one too many");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(UnrolledPlanTest, WritesWhereTheCallerWants) {
  load({times()});
  const Value x = vector({1, 2});
  for (int round = 0; round < 2; ++round) {
    std::vector<Value> results = {vector({0, 0, 0}), vector({0, 0}), count(0)};
    const Buffer *given = bufferOf(results[0]);
    ASSERT_OK(program->callInto(0, std::vector<Value>{x, count(3)}, results));
    EXPECT_EQ(bufferOf(results[0]), given);
    EXPECT_EQ(read(results[0]), (std::vector<float>{4, 8}));
    results = {x, vector({0, 0}), count(0)};
    EXPECT_STATUS(program->callInto(0, std::vector<Value>{x, count(3)}, results), InvalidArgument,
                  "result 0: its buffer is memory of input 0");
  }
}

TEST_F(UnrolledPlanTest, AFaultNamesSomeOfManyDispatches) {
  load({times()});
  const std::vector<Value> inputs = {vector({1}), count(100)};
  ASSERT_OK(program->call(0, inputs).status());
  fake.failures = {{"cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS}};
  const Status status = program->call(0, inputs).takeStatus();
  fake.failures.clear();
  EXPECT_NE(status.message().find("f.mlir:5:7: function 'times', command 0 (Dispatch of 'add'"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("and 36 more"), std::string::npos) << status.message();
}

} // namespace tenon::runtime
