// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions with blocks, and what a program keeps between calls, on the fake driver.
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "runtime/program/call_results.h"
#include "runtime/queue/submission_queue.h"
#include "tests/unit/runtime/call_fixture.h"

#include <atomic>
#include <thread>

namespace tenon::runtime {

static const TypeSpec kVector = {ElementType::F32, {-1}}, kCount = {ElementType::I32, {}, true},
                      kReal = {ElementType::F32, {}, true};

/// times(x: tensor<?xf32>, n: i32) -> (tensor<?xf32>, f32): x + n * x by additions, and its first element.
static FunctionSpec times() {
  FunctionSpec entry, head, body, end, function;
  entry.name = head.name = body.name = end.name = function.name = "times";
  entry.inputs = {kVector, kCount};
  entry.registers = {RegisterOp(Dim, 0, 0, 0, 0), RegisterOp(Arg, 1, 0, 0, 0)};
  entry.buffers = {{BufferSource::Input, 0}};
  entry.results = {{.type = kVector, .buffer = 0, .shape = {0}}, {.type = kCount, .scalar = 1}};
  entry.targets = {{.block = 1, .arguments = {0, 0, 1}}};
  head.inputs = {kVector, kVector, kCount}; // sum, x, n
  head.registers = {RegisterOp(Dim, 0, 0, 0, 0), RegisterOp(Arg, 2, 0, 0, 0), RegisterOp(Const, 0, 0, 0, 0),
                    RegisterOp(Lt, 2, 1, 0, 0)};
  head.buffers = {{BufferSource::Input, 0}, {BufferSource::Input, 1}};
  head.results = {{.type = kVector, .buffer = 0, .shape = {0}},
                  {.type = kVector, .buffer = 1, .shape = {0}},
                  {.type = kCount, .scalar = 1}};
  head.targets = {{3, 2, {0, 1, 2}}, {.block = 3, .arguments = {0}}};
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
  end.inputs = {kVector};
  end.registers = {RegisterOp(Dim, 0, 0, 0, 0), RegisterOp(Const, 0, 0, 0, 0)};
  end.buffers = {{BufferSource::Input, 0}};
  end.results = {{.type = kVector, .buffer = 0, .shape = {0}}, {.type = kReal, .buffer = 0, .element = 1}};
  function.inputs = {kVector, kCount};
  function.results = {{.type = kVector}, {.type = kReal}};
  function.results[0].shape = {0};
  function.blocks = {entry, head, body, end};
  return function;
}

/// keep(x: tensor<?xf32>) -> tensor<?xf32>: what the global 0 was; x is what it is then.
static FunctionSpec keep() {
  FunctionSpec block, function;
  block.name = function.name = "keep";
  block.inputs = {kVector, kVector};
  block.registers = {RegisterOp(Dim, 0, 0, 0, 0), RegisterOp(Dim, 1, 0, 0, 0)};
  block.buffers = {{BufferSource::Input, 0}, {BufferSource::Input, 1}};
  block.results = {{.type = kVector, .buffer = 1, .shape = {1}}, {.type = kVector, .buffer = 0, .shape = {0}}};
  block.loads = {0};
  block.stores = {{0, 1}};
  function.inputs = {kVector};
  function.results = {{.type = kVector}};
  function.results[0].shape = {0};
  function.blocks = {block};
  return function;
}

/// set(x: tensor<?xf32>): the global 0 is x.
static FunctionSpec set() {
  FunctionSpec block, function;
  block.name = function.name = "set";
  block.inputs = function.inputs = {kVector};
  block.registers = {RegisterOp(Dim, 0, 0, 0, 0)};
  block.buffers = {{BufferSource::Input, 0}};
  block.results = {{.type = kVector, .buffer = 0, .shape = {0}}};
  block.stores = {{0, 0}};
  function.blocks = {block};
  return function;
}

/// next() -> i32: the scalar global `global`, which is one more then.
static FunctionSpec next(uint32_t global) {
  FunctionSpec block, function;
  block.name = function.name = "next";
  block.inputs = {kCount};
  block.registers = {RegisterOp(Arg, 0, 0, 0, 0), RegisterOp(Const, 0, 0, 0, 1), RegisterOp(Add, 0, 1, 0, 0)};
  block.results = {{.type = kCount, .scalar = 0}, {.type = kCount, .scalar = 2}};
  block.loads = {global};
  block.stores = {{global, 1}};
  function.results = {{.type = kCount}};
  function.blocks = {block};
  return function;
}

class BlockTest : public CallTest {
protected:
  static Value count(int64_t value) { return Scalar{ElementType::I32, value}; }
  static const std::shared_ptr<const Buffer> &bufferOf(const Value &value) { return std::get<Tensor>(value).buffer; }
};

TEST_F(BlockTest, GoesRoundALoop) {
  load({times()});
  for (int n : {0, 1, 5, 2, -3}) {
    const Value x = vector({1, 2, 3});
    const size_t launched = fake.launches.size();
    auto results = program->call(0, std::vector<Value>{x, count(n)});
    ASSERT_OK(results.status());
    const float factor = static_cast<float>(n < 0 ? 1 : n + 1);
    EXPECT_EQ(read((*results)[0]), (std::vector<float>{factor, 2 * factor, 3 * factor}));
    EXPECT_EQ(std::get<Scalar>((*results)[1]).bits, std::bit_cast<int32_t>(factor));
    EXPECT_NE(bufferOf((*results)[0]).get(), bufferOf(x).get()) << "what is passed through is the caller's still";
    EXPECT_EQ(read(x), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(fake.launches.size() - launched, static_cast<size_t>(std::max(n, 0)));
  }
}

// The counter is no size, so the rounds of all calls have one plan, and one graph that is patched.
TEST_F(BlockTest, PlansARoundOnce) {
  load({times()});
  for (int n : {3, 8})
    ASSERT_OK(program->call(0, std::vector<Value>{vector({1, 2, 3}), count(n)}).status());
  EXPECT_EQ(device->statistics().graphsInstantiated, 1u);
  EXPECT_EQ(fake.count("cuLaunchKernel"), 1u) << "the first round, which may be the only one";
  EXPECT_EQ(fake.count("cuGraphLaunch"), 10u);
}

TEST_F(BlockTest, GivesMemoryBackOnTheWay) {
  load({times()});
  ASSERT_OK(program->call(0, std::vector<Value>{vector({1, 2, 3}), count(1)}).status());
  const uint64_t before = device->statistics().bytesPeak;
  ASSERT_OK(program->call(0, std::vector<Value>{vector({1, 2, 3}), count(100)}).status());
  EXPECT_LE(device->statistics().bytesPeak, before + 12) << "a sum beside the one before it";
}

TEST_F(BlockTest, StopsWhereTheCallerSaysSo) {
  load({times()});
  EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1}), count(1000000)}, {.mostBlocks = 10}).status(),
                DeadlineExceeded, "function 'times' has run 10 blocks, the most that this call may run; block 2");
  ASSERT_OK(program->call(0, std::vector<Value>{vector({1}), count(3)}, {.mostBlocks = 9}).status());
}

TEST_F(BlockTest, WritesWhereTheCallerWants) {
  load({times()});
  const Value x = vector({1, 2});
  for (int n : {0, 3}) {
    std::vector<Value> results = {vector({0, 0, 0}), count(0)};
    const auto given = bufferOf(results[0]);
    ASSERT_OK(program->callInto(0, std::vector<Value>{x, count(n)}, results));
    EXPECT_EQ(bufferOf(results[0]).get(), given.get());
    EXPECT_EQ(std::get<Tensor>(results[0]).shape, Shape{2});
    EXPECT_EQ(read(results[0]), (std::vector<float>{1.0f + n, 2.0f + 2 * n}));
  }
  std::vector<Value> results = {vector({0}), count(0)};
  EXPECT_STATUS(program->callInto(0, std::vector<Value>{x, count(1)}, results), OutOfRange,
                "result 0: its buffer has 4 bytes, the result needs 8");
  results = {x, count(0)};
  EXPECT_STATUS(program->callInto(0, std::vector<Value>{x, count(1)}, results), InvalidArgument,
                "result 0: its buffer is memory of input 0");
  results = {count(0)};
  EXPECT_STATUS(program->callInto(0, std::vector<Value>{x, count(1)}, results), InvalidArgument,
                "1 results given, the function returns 2");
}

/// Memory of a caller who has an allocator.
struct OwnMemory : ResultMemory {
  explicit OwnMemory(Device &device) : device(device) {}
  Result<std::shared_ptr<const Buffer>> allocate(size_t index, const Tensor &, uint64_t bytes) override {
    if (isEmpty)
      return makeError(StatusCode::ResourceExhausted, "none for result ", index);
    TENON_ASSIGN_OR_RETURN(given, allocateBuffer(device, bytes, {}));
    return std::shared_ptr<const Buffer>(given);
  }
  Device &device;
  bool isEmpty = false;
  std::shared_ptr<Buffer> given;
};

TEST_F(BlockTest, AsksForMemoryOfResults) {
  load({times()});
  OwnMemory memory(*device);
  const Value x = vector({1, 2});
  for (int n : {0, 3}) {
    std::vector<Value> results;
    ASSERT_OK(program->callInto(0, std::vector<Value>{x, count(n)}, results, {.resultMemory = &memory}));
    EXPECT_EQ(bufferOf(results[0]).get(), memory.given.get());
    EXPECT_EQ(read(results[0]), (std::vector<float>{1.0f + n, 2.0f + 2 * n}));
    EXPECT_EQ(std::get<Scalar>(results[1]).bits, std::bit_cast<int32_t>(1.0f + n));
  }
  memory.isEmpty = true;
  std::vector<Value> results;
  EXPECT_STATUS(program->callInto(0, std::vector<Value>{x, count(1)}, results, {.resultMemory = &memory}),
                ResourceExhausted, "none for result 0");
}

TEST_F(BlockTest, IsTheHostsToRun) {
  load({times()});
  auto queue = SubmissionQueue::create(device).take();
  std::vector<Value> results;
  EXPECT_STATUS(
      program->submit(*queue, {}, 0, std::vector<Value>{vector({1}), count(1)}, results, {}), FailedPrecondition,
      "function 'times' branches on what the device computes, uses globals or runs very many blocks, so that the "
      "host goes along: call it without a queue");
  const auto stream = reinterpret_cast<CUstream>(uintptr_t(16));
  const std::vector<Value> inputs = {vector({1}), count(1)};
  fake.capturing = stream;
  EXPECT_STATUS(program->call(0, inputs, {.stream = stream}).status(), FailedPrecondition,
                "so that the host goes along: it cannot be captured");
  fake.capturing = nullptr;
  // What is on the stream may make the inputs.
  const size_t waited = fake.count("cuStreamSynchronize");
  auto called = program->call(0, inputs, {.stream = stream});
  ASSERT_OK(called.status());
  EXPECT_EQ(read((*called)[0]), std::vector<float>{2});
  EXPECT_GT(fake.count("cuStreamSynchronize"), waited + 1);
}

TEST_F(BlockTest, ReadsNothingBesideABuffer) {
  for (int64_t byte : {int64_t(5), int64_t(8), int64_t(-1), std::numeric_limits<int64_t>::min(),
                       std::numeric_limits<int64_t>::max()}) {
    FunctionSpec function = times();
    function.blocks[3].registers[1] = RegisterOp(Const, 0, 0, 0, byte);
    load({function});
    EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1, 2}), count(0)}).status(), OutOfRange,
                  "function 'times': 4 bytes at byte " + std::to_string(byte) + " of buffer 0 are read back, it has 8");
  }
}

TEST_F(BlockTest, ChecksWhatIsHandedOn) {
  FunctionSpec function = times();
  function.blocks[2].checks = {{3, "the count is 1", "f.mlir:7:3"}};
  load({function});
  EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1}), count(2)}).status(), InvalidArgument,
                "f.mlir:7:3: function 'times': the count is 1");
  EXPECT_EQ(fake.launches.size(), 1u) << "of the round before";
}

TEST_F(BlockTest, KeepsGlobals) {
  StateSpec state;
  state.globals = {{.name = "kept", .type = {ElementType::F32, {-1}}}, {.name = "n", .type = kCount, .scalar = 40}};
  load({keep(), set(), next(1)}, state);
  EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1})}).status(), FailedPrecondition,
                "global 'kept' is loaded before it was stored, and it has no initial value");
  Value x = vector({1, 2});
  ASSERT_OK(program->call(1, std::vector<Value>{x}).status());
  // The caller's memory is the caller's: what it becomes is not seen.
  const std::vector<float> other = {8, 9};
  ASSERT_OK(uploadBytes(const_cast<Buffer &>(*bufferOf(x)), 0,
                        {reinterpret_cast<const uint8_t *>(other.data()), other.size() * 4}));
  auto first = program->call(0, std::vector<Value>{vector({3, 4, 5})});
  ASSERT_OK(first.status());
  EXPECT_EQ(read((*first)[0]), (std::vector<float>{1, 2}));
  std::vector<Value> into = {vector({0, 0, 0})};
  ASSERT_OK(program->callInto(0, std::vector<Value>{vector({})}, into));
  EXPECT_EQ(read(into[0]), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(std::get<Scalar>((*program->call(2, {}))[0]).bits, 40);
  EXPECT_EQ(std::get<Scalar>((*program->call(2, {}))[0]).bits, 41);
}

// A result that is a global as well is not the same memory: the caller may write to what it got.
TEST_F(BlockTest, ReturnsNoGlobals) {
  StateSpec state;
  state.globals = {{.name = "kept", .type = {ElementType::F32, {2}}, .constant = 0}};
  FunctionSpec function;
  FunctionSpec block;
  block.name = function.name = "get";
  block.inputs = {{ElementType::F32, {2}}};
  block.registers = {RegisterOp(Const, 0, 0, 0, 2)};
  block.buffers = {{BufferSource::Input, 0}};
  block.results = {{.type = {ElementType::F32, {2}}, .buffer = 0, .shape = {0}}};
  block.loads = {0};
  function.results = block.results;
  function.blocks = {block};
  const std::vector<float> values = {6, 7};
  const auto *first = reinterpret_cast<const uint8_t *>(values.data());
  load({function}, state, {std::vector<uint8_t>(first, first + 8)});
  auto one = program->call(0, {}), two = program->call(0, {});
  ASSERT_OK(one.status());
  ASSERT_OK(two.status());
  EXPECT_EQ(read((*one)[0]), values);
  EXPECT_NE(bufferOf((*one)[0])->address(), bufferOf((*two)[0])->address());
}

TEST_F(BlockTest, RunsTheInitializerOnce) {
  StateSpec state;
  state.globals = {{.name = "n", .type = kCount, .scalar = 1}};
  FunctionSpec block, begin;
  block.name = begin.name = "begin";
  block.inputs = {kCount};
  block.registers = {RegisterOp(Arg, 0, 0, 0, 0), RegisterOp(Const, 0, 0, 0, 100), RegisterOp(Add, 0, 1, 0, 0)};
  block.results = {{.type = kCount, .scalar = 2}};
  block.loads = {0};
  block.stores = {{0, 0}};
  begin.blocks = {block};
  state.initializer = begin;
  load({next(0)}, state);
  EXPECT_EQ(std::get<Scalar>((*program->call(0, {}))[0]).bits, 101);
  EXPECT_EQ(std::get<Scalar>((*program->call(0, {}))[0]).bits, 102);
}

TEST_F(BlockTest, SeveralThreadsCallAtOnce) {
  StateSpec state;
  state.globals = {{.name = "n", .type = kCount}};
  load({times(), next(0)}, state);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const float x = static_cast<float>(100 * t + i);
        auto results = program->call(0, std::vector<Value>{vector({x}), count(i % 4)});
        right += results.ok() && read((*results)[0]) == std::vector<float>{static_cast<float>(1 + i % 4) * x};
        right += program->call(1, {}).ok();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 200);
  EXPECT_EQ(std::get<Scalar>((*program->call(1, {}))[0]).bits, 100) << "one at a time";
}

TEST_F(BlockTest, AFaultIsNamed) {
  load({times()});
  fake.kernels["add"] = [this](const FakeLaunch &) { fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS; };
  const std::vector<Value> inputs = {vector({1}), count(1)};
  for (bool synchronous : {false, true}) {
    EXPECT_STATUS(program->call(0, inputs, {.synchronous = synchronous}).status(), Aborted,
                  "f.mlir:5:7: function 'times', command 0 (Dispatch of 'add', variant 'sm_80'): ");
    fake.sticky = CUDA_SUCCESS;
  }
}

// Every call to the driver fails once, on the way round a loop and through a global.
TEST_F(BlockTest, NoFailureOfTheDriverLeaves) {
  StateSpec state;
  state.globals = {{.name = "kept", .type = {ElementType::F32, {-1}}}};
  load({times(), set(), keep()}, state);
  auto run = [&]() -> Status {
    auto driver = cuda::Driver::openFirst({fakeDriverPath()}, "the fake");
    TENON_RETURN_IF_ERROR(driver.takeStatus());
    TENON_ASSIGN_OR_RETURN(auto opened, Device::create(driver.take(), 0));
    TENON_ASSIGN_OR_RETURN(auto loaded, Program::load(opened, bytes->span(), "test"));
    TENON_ASSIGN_OR_RETURN(Tensor one, uploadTensor(*opened, {ElementType::F32, {1}, {0, 0, 128, 63}}));
    TENON_ASSIGN_OR_RETURN(auto sums, loaded->call(0, std::vector<Value>{one, count(3)}));
    TENON_RETURN_IF_ERROR(loaded->call(1, std::vector<Value>{one}).takeStatus());
    TENON_ASSIGN_OR_RETURN(auto kept, loaded->call(2, std::vector<Value>{sums[0]}));
    TENON_ASSIGN_OR_RETURN(HostTensor back, downloadTensor(*opened, std::get<Tensor>(kept[0])));
    const bool isRight = back.bytes == std::vector<uint8_t>{0, 0, 128, 63} &&
                         std::get<Scalar>(sums[1]).bits == std::bit_cast<int32_t>(4.0f);
    return isRight ? okStatus() : makeError(StatusCode::Internal, "not 1 and 4");
  };
  program.reset();
  device.reset();
  fake.calls.clear();
  ASSERT_OK(run());
  const std::vector<std::string> calls = fake.calls;
  int reported = 0;
  for (fake.failAtCall = 0; fake.failAtCall < int(calls.size()); ++fake.failAtCall) {
    fake.calls.clear();
    Status status = run();
    EXPECT_NE(status.code(), StatusCode::Internal) << status.message();
    reported += !status.ok();
    const std::string &function = calls[size_t(fake.failAtCall)];
    EXPECT_LE(fake.liveAllocations, function == "cuMemFreeAsync") << function;
    EXPECT_LE(fake.liveModules, function == "cuModuleUnload") << function;
    EXPECT_LE(fake.liveGraphs, function == "cuGraphExecDestroy" || function == "cuGraphDestroy") << function;
    fake.liveGraphs = 0;
    fake.liveAllocations = fake.liveModules = fake.liveStreams = fake.retained = fake.contextDepth = 0;
  }
  EXPECT_GT(reported, 30);
  fake.failAtCall = -1;
  fake.launches.clear();
}

} // namespace tenon::runtime
