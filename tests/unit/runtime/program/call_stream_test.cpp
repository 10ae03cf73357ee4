// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that come again: into the caller's memory, on the caller's stream, within the caller's capture; what they
// allocate.
#include "runtime/commands/stream_command_buffer.h"
#include "runtime/memory/allocator.h"
#include "runtime/queue/submission_queue.h"
#include "tests/unit/runtime/call_fixture.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <set>
#include <thread>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENON_ALLOCATIONS_NOT_COUNTED "the thread sanitizer has an operator new of its own"
#endif
#endif

// Allocations of this process that are not the fake driver's, while a test counts them.
static std::atomic<tenon::test::FakeDriver *> countedFor = nullptr;
static std::atomic<uint64_t> allocationCount = 0;

#ifndef TENON_ALLOCATIONS_NOT_COUNTED
static void *allocate(std::size_t bytes) {
  tenon::test::FakeDriver *driver = countedFor.load();
  if (driver && driver->insideDriver == 0)
    ++allocationCount;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  std::abort();
}
void *operator new(std::size_t bytes) {
  return allocate(bytes);
}
void *operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
  return allocate(bytes);
}
void *operator new[](std::size_t bytes, const std::nothrow_t &) noexcept {
  return allocate(bytes);
}
void operator delete(void *memory) noexcept {
  std::free(memory);
}
void operator delete[](void *memory) noexcept {
  std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void *memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace tenon::runtime {

class CallStreamTest : public CallTest {
protected:
  /// t = a + b in the arena; result = copy of t. One more transient than addAndScale, and it is no result.
  static FunctionSpec addThroughTransients() {
    FunctionSpec function = addAndScale();
    function.name = "g";
    function.buffers.push_back({BufferSource::Transient, 0, 4}); // 3
    function.buffers.push_back({BufferSource::Transient, 0, 4}); // 4
    function.commands = {
        {.ordinal = 0, .grid = {6, 7, 7}, .ranges = {wholeBuffer(0), wholeBuffer(1), wholeBuffer(3)}, .constants = {0}},
        {.ordinal = 0, .grid = {6, 7, 7}, .ranges = {wholeBuffer(3), wholeBuffer(0), wholeBuffer(4)}, .constants = {0}},
        {.kind = CommandSpec::Copy, .ranges = {wholeBuffer(4), wholeBuffer(2)}}};
    return function;
  }
  static CUstream stream(uintptr_t number) { return reinterpret_cast<CUstream>(number); }
  static const Buffer *bufferOf(const Value &value) { return std::get<Tensor>(value).buffer.get(); }
};

TEST_F(CallStreamTest, TenThousandCallsAllocateNothing) {
  load({addAndScale(), addThroughTransients()});
  const std::vector<Value> even = {vector({1, 2}), vector({3, 4}), scalar(2)};
  const std::vector<Value> odd = {vector({5, 6}), vector({7, 8}), scalar(2)};
  for (uint32_t function : {0u, 1u})
    for (bool graph : {true, false}) {
      std::vector<Value> results;
      ASSERT_OK(program->callInto(function, even, results, {.graph = graph}));
      ASSERT_OK(program->callInto(function, odd, results, {.graph = graph}));
      const uint64_t before = device->statistics().allocations;
      allocationCount = 0;
      countedFor = &fake;
      Status status;
      for (int i = 0; i < 5000 && status.ok(); ++i) {
        status = program->callInto(function, even, results, {.graph = graph});
        if (status.ok())
          status = program->callInto(function, odd, results, {.graph = graph, .stream = stream(16)});
        if (i == 0)
          allocationCount = 0; // the stream is new
      }
      countedFor = nullptr;
      ASSERT_OK(status);
      EXPECT_EQ(allocationCount, 0u) << "function " << function << ", graph " << graph;
      EXPECT_LE(device->statistics().allocations, before + 1); // the arena on the other stream
      EXPECT_EQ(read(results[0]), function == 0 ? (std::vector<float>{24, 28}) : (std::vector<float>{17, 20}));
      fake.calls.clear();
    }
}

// Three for each at most: of the semaphore's list, and where a thread was asleep.
TEST_F(CallStreamTest, SubmissionsUseTheirMemoryAgain) {
  load({addAndScale()});
  auto queue = SubmissionQueue::create(device).take();
  std::shared_ptr<CommandBuffer> commands = StreamCommandBuffer::create(device);
  auto buffer = allocateBuffer(*device, 64, {}).take();
  ASSERT_OK(commands->begin());
  ASSERT_OK(commands->fill(BufferRef::of(buffer), 1, 4));
  ASSERT_OK(commands->end());
  const BoundCommandBuffer bound = {commands};
  auto timeline = Semaphore::create();
  constexpr uint64_t kSubmissions = 500;
  for (uint64_t i = 0; i < 2 * kSubmissions; ++i) {
    if (i == kSubmissions)
      allocationCount = 0, countedFor = &fake;
    const SemaphorePoint wait = {timeline, i}, signal = {timeline, i + 1};
    ASSERT_OK(queue->submit({&wait, 1}, {&bound, 1}, {&signal, 1}));
    while (*timeline->query() <= i)
      std::this_thread::yield();
  }
  countedFor = nullptr;
  EXPECT_LE(allocationCount, 3 * kSubmissions);
}

TEST_F(CallStreamTest, TheCounterCounts) {
#ifdef TENON_ALLOCATIONS_NOT_COUNTED
  GTEST_SKIP() << TENON_ALLOCATIONS_NOT_COUNTED;
#endif
  countedFor = &fake;
  allocationCount = 0;
  delete new (std::nothrow) int;
  std::vector<int> one(1);
  countedFor = nullptr;
  EXPECT_GE(allocationCount, 1u);
}

TEST_F(CallStreamTest, WritesWhereTheCallerSays) {
  load({addAndScale()});
  const std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(2)};
  std::vector<Value> results = {vector({0, 0, 0}), Scalar{}};
  const Buffer *given = bufferOf(results[0]);
  ASSERT_OK(program->callInto(0, inputs, results));
  EXPECT_EQ(bufferOf(results[0]), given);
  EXPECT_EQ(std::get<Tensor>(results[0]).shape, Shape{2});
  EXPECT_EQ(read(results[0]), (std::vector<float>{8, 12}));
  EXPECT_EQ(std::get<Scalar>(results[1]).bits, 2);

  std::vector<Value> bad = {vector({0}), Scalar{}};
  EXPECT_STATUS(program->callInto(0, inputs, bad), OutOfRange, "result 0: its buffer has 4 bytes, the result needs 8");
  bad = {inputs[1], Scalar{}};
  EXPECT_STATUS(program->callInto(0, inputs, bad), InvalidArgument, "is memory of input 1");
  bad = {vector({0, 0})};
  EXPECT_STATUS(program->callInto(0, inputs, bad), InvalidArgument, "1 results given, function 'f' returns 2");
}

TEST_F(CallStreamTest, TransientsShareAnArena) {
  load({addThroughTransients()});
  const std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(2)};
  std::vector<Value> results;
  ASSERT_OK(program->callInto(0, inputs, results));
  EXPECT_EQ(read(results[0]), (std::vector<float>{5, 8}));
  const uint64_t before = device->statistics().allocations;
  for (int i = 0; i < 10; ++i)
    ASSERT_OK(program->callInto(0, inputs, results));
  EXPECT_EQ(device->statistics().allocations, before);
  EXPECT_EQ(fake.count("cuGraphInstantiateWithFlags"), 1u);
  EXPECT_EQ(fake.graphEdges, 2u);
  EXPECT_EQ(fake.count("cuGraphExecKernelNodeSetParams_v2"), 0u); // the same buffers each time
}

TEST_F(CallStreamTest, EachStreamHasAnArenaOfItsOwn) {
  load({addThroughTransients()});
  const std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(2)};
  std::set<uint64_t> temporaries;
  fake.kernels["add"] = [&](const FakeLaunch &launch) { temporaries.insert(launch.parameter<uint64_t>(2)); };
  for (uintptr_t number : {16, 32, 48, 16, 32, 48}) {
    std::vector<Value> results;
    ASSERT_OK(program->callInto(0, inputs, results, {.stream = stream(number)}));
  }
  EXPECT_EQ(temporaries.size(), 6u);                // two in each of three arenas
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 2u); // of the uploads
}

TEST_F(CallStreamTest, ACaptureTakesTheCommandsAndKeepsItsMemory) {
  load({addThroughTransients()});
  const std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(2)};
  std::vector<Value> results = {vector({0, 0}), Scalar{}};
  fake.capturing = stream(16);
  std::set<uint64_t> temporaries;
  const auto add = fake.kernels["add"];
  fake.kernels["add"] = [&](const FakeLaunch &launch) {
    temporaries.insert(launch.parameter<uint64_t>(2)), add(launch);
  };
  ASSERT_OK(program->callInto(0, inputs, results, {.stream = stream(16)}));
  ASSERT_OK(program->callInto(0, inputs, results, {.stream = stream(16)}));
  EXPECT_EQ(fake.count("cuGraphLaunch"), 0u); // a graph cannot be launched into a capture
  EXPECT_EQ(fake.count("cuLaunchKernel"), 4u);
  EXPECT_EQ(temporaries.size(), 4u);                          // what was captured may run at any time, both of it
  EXPECT_EQ(fake.captureMode, CU_STREAM_CAPTURE_MODE_GLOBAL); // as it was
  EXPECT_EQ(read(results[0]), (std::vector<float>{5, 8}));
  fake.capturing = nullptr;
}

TEST_F(CallStreamTest, CapturedMemoryOutlivesThePlan) {
  load({addThroughTransients()});
  const Value a = vector({1, 2}), b = vector({3, 4});
  std::vector<Value> results = {vector({0, 0}), Scalar{}};
  fake.capturing = stream(16);
  ASSERT_OK(program->callInto(0, std::vector<Value>{a, b, scalar(-1)}, results, {.stream = stream(16)}));
  fake.capturing = nullptr;
  // 300 other plans drive it out.
  std::vector<Value> others;
  for (size_t length = 3; length < 303; ++length) {
    const Value x = vector(std::vector<float>(length));
    others.clear();
    ASSERT_OK(program->callInto(0, std::vector<Value>{x, x, scalar(1)}, others));
  }
  const uint64_t freed = fake.count("cuMemFree_v2");
  ASSERT_OK(program->callInto(0, std::vector<Value>{a, b, scalar(-1)}, results));
  EXPECT_EQ(read(results[0]), (std::vector<float>{5, 8}));
  EXPECT_EQ(fake.count("cuMemFree_v2"), freed); // what was captured has its memory still
}

// A captured call drives out no plan; later calls make room.
TEST_F(CallStreamTest, NoPlanGoesDuringACapture) {
  load({addThroughTransients()});
  std::vector<Value> inputs[260];
  for (size_t i = 0; i < std::size(inputs); ++i) {
    const Value x = vector(std::vector<float>(i + 1, 1));
    inputs[i] = {x, x, scalar(2)};
    std::vector<Value> results;
    fake.capturing = i < 250 ? nullptr : stream(17);
    ASSERT_OK(program->callInto(0, inputs[i], results, {.stream = stream(i < 250 ? 16 : 17)}));
    fake.capturing = nullptr;
  }
  EXPECT_FALSE(fake.isCaptureBroken);
  std::vector<Value> results;
  const Value x = vector(std::vector<float>(300, 1));
  ASSERT_OK(program->callInto(0, std::vector<Value>{x, x, scalar(2)}, results)); // makes room
  EXPECT_LE(fake.liveGraphs, 2 * 256);
}

// A garbage collector picks the moment: its thread ends no capture of another's, whatever of the program still runs.
TEST_F(CallStreamTest, AProgramGoesWhileAnotherThreadCaptures) {
  load({addThroughTransients()});
  {
    const Value a = vector({1, 2});
    std::vector<Value> results;
    for (uintptr_t number : {16, 17, 16})
      ASSERT_OK(program->callInto(0, std::vector<Value>{a, a, scalar(2)}, results, {.stream = stream(number)}));
    fake.capturing = stream(99);
    program.reset();
  }
  EXPECT_FALSE(fake.isCaptureBroken);
  EXPECT_EQ(fake.captureMode, CU_STREAM_CAPTURE_MODE_GLOBAL); // as it was
  EXPECT_EQ(fake.liveModules, 0);
  fake.capturing = nullptr;
}

// Memory that a failed call gives back is given back as a capture allows it.
TEST_F(CallStreamTest, ACapturedCallThatFailsBreaksNoRule) {
  load({addThroughTransients()});
  const std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(2)};
  const auto capture = [&](std::vector<Value> &results) {
    fake.capturing = stream(16);
    const Status done = program->callInto(0, inputs, results, {.stream = stream(16)});
    if (!done.ok())
      results.clear(); // nothing is left in them
    fake.capturing = nullptr;
    return done.ok();
  };
  std::vector<Value> results;
  ASSERT_TRUE(capture(results)); // the kernels are there
  results.clear();
  const size_t from = fake.calls.size();
  ASSERT_TRUE(capture(results));
  std::vector<size_t> allocations; // of a result, of the transients
  for (size_t i = from; i < fake.calls.size(); ++i)
    if (fake.calls[i] == "cuMemAlloc_v2")
      allocations.push_back(i - from);
  ASSERT_GE(allocations.size(), 2u);
  for (size_t after : allocations) {
    results.clear();
    fake.failAtCall = static_cast<int>(fake.calls.size() + after);
    EXPECT_FALSE(capture(results));
    fake.failAtCall = -1;
  }
  EXPECT_FALSE(fake.isCaptureBroken);
}

TEST_F(CallStreamTest, OtherScalarsAreTheSamePlan) {
  load({addAndScale()});
  const Value a = vector({1, 2}), b = vector({3, 4});
  std::vector<Value> results;
  for (int factor = 0; factor < 300; ++factor) {
    ASSERT_OK(program->callInto(0, std::vector<Value>{a, b, scalar(float(factor))}, results));
    ASSERT_EQ(read(results[0]), (std::vector<float>{4 * float(factor), 6 * float(factor)}));
  }
  EXPECT_EQ(fake.liveGraphs, 2); // a graph and what is made of it
}

/// f with a result that is the factor, and a check of it.
TEST_F(CallStreamTest, ScalarsThatAreReturnedAndCheckedAreThoseOfTheCall) {
  FunctionSpec function = addAndScale();
  function.inputs.push_back({ElementType::I64, {}, true});
  function.registers.push_back(RegisterOp(Arg, 3, 0, 0, 0)); // 9
  function.registers.push_back(RegisterOp(Lt, 9, 3, 0, 0));  // 10: below 4
  function.checks.push_back({10, "the number is large", "f.mlir:4:5"});
  function.results.push_back({.type = {ElementType::I64, {}, true}, .scalar = 9});
  load({function});
  for (int64_t number : {1, 3, 2}) {
    std::vector<Value> results;
    ASSERT_OK(program->callInto(
        0, std::vector<Value>{vector({1}), vector({2}), scalar(2), Scalar{ElementType::I64, number}}, results));
    EXPECT_EQ(std::get<Scalar>(results[2]).bits, number);
  }
  const auto refused =
      program->call(0, std::vector<Value>{vector({1}), vector({2}), scalar(2), Scalar{ElementType::I64, 4}});
  EXPECT_EQ(refused.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(refused.status().message().find("the number is large"), std::string::npos);
  EXPECT_EQ(fake.liveGraphs, 2);
}

TEST_F(CallStreamTest, AllShapesShareTheMemoryOfTransients) {
  load({addThroughTransients()});
  for (size_t length = 1; length <= 200; ++length) {
    const Value x = vector(std::vector<float>(1000 * length, 1));
    std::vector<Value> results;
    ASSERT_OK(program->callInto(0, std::vector<Value>{x, x, scalar(1)}, results));
    ASSERT_EQ(read(results[0]).back(), 3); // (1 + 1) + 1
  }
  // The input, the result, and two transients with a quarter to spare.
  EXPECT_LT(device->statistics().bytesPeak, 2 * 800'000u + 2 * 800'000u * 5 / 4 + 10'000u);
  EXPECT_LT(fake.count("cuMemAlloc_v2"), 40u); // it grows by a quarter, not by each call
}

TEST_F(CallStreamTest, SubmitsBetweenSemaphores) {
  load({addThroughTransients()});
  auto queue = SubmissionQueue::create(device).take();
  auto timeline = Semaphore::create();
  const SemaphorePoint wait = {timeline, 1}, signal = {timeline, 2};
  std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(2)}, results;
  ASSERT_OK(program->submit(*queue, {&wait, 1}, 0, inputs, results, {&signal, 1}));
  inputs.clear(); // kept by the submission
  EXPECT_TRUE(fake.launches.empty());
  ASSERT_OK(timeline->signal(1));
  ASSERT_OK(timeline->wait(2, kWaitForever));
  EXPECT_EQ(read(results[0]), (std::vector<float>{5, 8}));
}

TEST_F(CallStreamTest, ConstantsAreUploadedByTheFirstCallThatNeedsThem) {
  FunctionSpec function{.name = "f"};
  function.registers = {RegisterOp(Const, 0, 0, 0, 4)};
  function.buffers = {{BufferSource::Constant, 0}};
  function.results = {{.type = {ElementType::I8, {-1}}, .buffer = 0, .shape = {0}}};
  bytes = std::make_unique<AlignedBytes>(buildProgram({function}, {}, {{1, 2, 3, 4}}));
  program = Program::load(open(), bytes->span(), "test").take();
  EXPECT_EQ(device->statistics().allocations, 0u);
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(program->call(0, {}).status());
  EXPECT_EQ(device->statistics().allocations, 1u + 3); // and the results
}

TEST_F(CallStreamTest, ForgetsThePlanNotUsedForLongest) {
  load({addAndScale()});
  for (size_t length = 1; length <= 300; ++length) {
    const Value x = vector(std::vector<float>(length));
    ASSERT_OK(program->call(0, std::vector<Value>{x, x, scalar(1)}).status());
  }
  EXPECT_EQ(fake.liveGraphs, 2 * 256);
}

TEST_F(CallStreamTest, ManyThreadsOnOneStreamWithOtherShapes) {
  load({addThroughTransients()});
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 1; i <= 25; ++i) { // each call may find that the arena is too small
        const std::vector<float> x(8 * i + t, static_cast<float>(t));
        const std::vector<Value> inputs = {vector(x), vector(std::vector<float>(x.size(), 1)), scalar(2)};
        auto results = program->call(0, inputs);
        right += results.ok() && read((*results)[0]) == std::vector<float>(x.size(), static_cast<float>(2 * t + 1));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 100);
}

TEST_F(CallStreamTest, ManyThreadsOnTheirOwnStreams) {
  load({addThroughTransients()});
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<Value> results;
      for (int i = 0; i < 25; ++i) {
        const float x = static_cast<float>(100 * t) + static_cast<float>(i);
        const std::vector<Value> inputs = {vector({x}), vector({1}), scalar(2)};
        right += program->callInto(0, inputs, results, {.stream = stream(16 * (t + 1))}).ok() &&
                 read(results[0]) == std::vector<float>{2 * x + 1};
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 100);
}

} // namespace tenon::runtime
