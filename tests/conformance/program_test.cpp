// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: calls that come again, on streams of the caller, within the caller's capture, between semaphores, from
// several threads, several programs at once.
#include "fixture.h"

#include "program_builder.h"
#include "runtime/program/program.h"

#include <atomic>
#include <dlfcn.h>
#include <thread>

namespace tenon::conformance {

using abi::fb::BufferSource;
using abi::fb::RegisterOp;
using abi::fb::RegisterOpcode;

/// f(a, b): t = a + b; u = t + b; return u + a, which is 2 a + 2 b: two transients that are not results.
static test::FunctionSpec doubleSum() {
  test::FunctionSpec function{.name = "f"};
  function.inputs = {{abi::ElementType::F32, {-1}}, {abi::ElementType::F32, {-1}}};
  function.registers = {RegisterOp(RegisterOpcode::Dim, 0, 0, 0, 0),     // 0: elements
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 4),   // 1
                        RegisterOp(RegisterOpcode::Mul, 0, 1, 0, 0),     // 2: bytes
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 64),  // 3
                        RegisterOp(RegisterOpcode::CeilDiv, 0, 3, 0, 0), // 4: workgroups
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 1)};  // 5
  function.buffers = {{BufferSource::Input, 0},
                      {BufferSource::Input, 1},
                      {BufferSource::Transient, 0, 2},
                      {BufferSource::Transient, 0, 2},
                      {BufferSource::Transient, 0, 2}};
  auto add = [](uint32_t a, uint32_t b, uint32_t c) {
    return test::CommandSpec{.ordinal = kAdd,
                             .grid = {4, 5, 5},
                             .ranges = {test::wholeBuffer(a), test::wholeBuffer(b), test::wholeBuffer(c)},
                             .constants = {0}};
  };
  function.commands = {add(0, 1, 2), add(2, 1, 3), add(3, 0, 4)};
  function.results = {{.type = {abi::ElementType::F32, {-1}}, .buffer = 4, .shape = {0}}};
  return function;
}

/// g(a, b): t = 3 a + b + 7; return 3 t + a + 7: by a kernel whose pointers stand behind scalars and in a struct.
static test::FunctionSpec orderedSum() {
  test::FunctionSpec function{.name = "g"};
  function.inputs = {{abi::ElementType::I32, {-1}}, {abi::ElementType::I32, {-1}}};
  function.registers = {RegisterOp(RegisterOpcode::Dim, 0, 0, 0, 0),     // 0: elements
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 4),   // 1
                        RegisterOp(RegisterOpcode::Mul, 0, 1, 0, 0),     // 2: bytes
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 64),  // 3
                        RegisterOp(RegisterOpcode::CeilDiv, 0, 3, 0, 0), // 4: workgroups
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 1),   // 5
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 3),   // 6: factor
                        RegisterOp(RegisterOpcode::Const, 0, 0, 0, 7)};  // 7: offset
  function.buffers = {{BufferSource::Input, 0},
                      {BufferSource::Input, 1},
                      {BufferSource::Transient, 0, 2},
                      {BufferSource::Transient, 0, 2}};
  auto scale = [](uint32_t in, uint32_t more, uint32_t out) {
    return test::CommandSpec{.ordinal = kScaleAndOffsetOrdered,
                             .grid = {4, 5, 5},
                             .ranges = {test::wholeBuffer(in), test::wholeBuffer(more), test::wholeBuffer(out)},
                             .constants = {0, 6, 7}};
  };
  function.commands = {scale(0, 1, 2), scale(2, 0, 3)};
  function.results = {{.type = {abi::ElementType::I32, {-1}}, .buffer = 3, .shape = {0}}};
  return function;
}

class ProgramCalls : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!device)
      return;
    bytes = std::make_unique<test::AlignedBytes>(
        test::buildProgram({doubleSum(), orderedSum()}, {Environment::shared().executableBytes}));
    program = Program::load(device, bytes->span(), "conformance").take();
    cuda::ContextScope scope = device->enter();
    for (CUstream &stream : streams)
      ASSERT_EQ(device->driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (device) {
      program.reset();
      cuda::ContextScope scope = device->enter();
      for (CUstream stream : streams)
        (void)device->driver().cuStreamDestroy_v2(stream);
    }
    DeviceTest::TearDown();
  }
  Value vector(size_t n, float value) {
    return Tensor{abi::ElementType::F32, {int64_t(n)}, upload(std::vector<float>(n, value))};
  }
  std::vector<float> read(const Value &value) { return download<float>(*std::get<Tensor>(value).buffer); }
  /// Neither, where the driver captures no streams.
  void findCapture() {
    void *library = dlopen(device->driver().path().c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr);
    if (!ReplayGraph::isSupported(device->driver()))
      return;
    beginCapture = reinterpret_cast<decltype(beginCapture)>(dlsym(library, "cuStreamBeginCapture_v2"));
    endCapture = reinterpret_cast<decltype(endCapture)>(dlsym(library, "cuStreamEndCapture"));
  }
  Status synchronize(CUstream stream) {
    cuda::ContextScope scope = device->enter();
    return cuda::driverStatus(device->driver(), device->driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
  }

  std::unique_ptr<test::AlignedBytes> bytes;
  std::unique_ptr<Program> program;
  CUstream streams[2] = {};
  decltype(&::cuStreamBeginCapture_v2) beginCapture = nullptr;
  decltype(&::cuStreamEndCapture) endCapture = nullptr;
};

TEST_F(ProgramCalls, SameShapesOtherBuffers) {
  std::vector<Value> results;
  for (bool graph : {true, false})
    for (int i = 1; i <= 4; ++i) {
      const std::vector<Value> inputs = {vector(1000, float(i)), vector(1000, 10)};
      OK(program->callInto(0, inputs, results, {.graph = graph}));
      EXPECT_EQ(read(results[0]), std::vector<float>(1000, float(2 * i + 20)));
    }
}
// What is replayed is patched where the pointers stand, in a struct too.
TEST_F(ProgramCalls, AnyOrderOfParametersWithOtherBuffers) {
  std::vector<Value> results;
  for (bool graph : {true, false})
    for (uint32_t i = 1; i <= 4; ++i) {
      auto ints = [&](uint32_t from) {
        return Value(Tensor{abi::ElementType::I32, {200}, upload(numbers(200, from))});
      };
      const std::vector<Value> inputs = {ints(i), ints(100 * i)};
      OK(program->callInto(1, inputs, results, {.graph = graph}));
      const auto found = download<uint32_t>(*std::get<Tensor>(results[0]).buffer);
      for (uint32_t k = 0; k < 200; ++k) {
        const uint32_t a = i + k, b = 100 * i + k;
        ASSERT_EQ(found[k], 3 * (3 * a + b + 7) + a + 7) << graph << ' ' << i << ' ' << k;
      }
    }
}
TEST_F(ProgramCalls, OtherShapesInTurn) {
  for (size_t n : {1u, 64u, 65u, 1000u, 64u, 0u, 1u}) {
    auto results = program->call(0, std::vector<Value>{vector(n, 1), vector(n, 2)});
    OK(results.status().clone());
    EXPECT_EQ(std::get<Tensor>((*results)[0]).shape, Shape{int64_t(n)});
    if (n != 0)
      EXPECT_EQ(read((*results)[0]), std::vector<float>(n, 6));
  }
}
TEST_F(ProgramCalls, EachOnItsStream) {
  std::vector<Value> results[2];
  const std::vector<Value> inputs[2] = {{vector(256, 1), vector(256, 2)}, {vector(256, 3), vector(256, 4)}};
  for (int i = 0; i < 8; ++i)
    for (int s = 0; s < 2; ++s)
      OK(program->callInto(0, inputs[s], results[s], {.stream = streams[s]}));
  for (int s = 0; s < 2; ++s) {
    OK(synchronize(streams[s]));
    EXPECT_EQ(read(results[s][0]), std::vector<float>(256, s == 0 ? 6.f : 14.f));
  }
}
TEST_F(ProgramCalls, OneAfterTheOtherOnAStream) {
  // The second reads what the first writes; nobody waits in between.
  std::vector<Value> first = {vector(256, 0)}, second = {vector(256, 0)};
  const Value a = vector(256, 1);
  OK(program->callInto(0, std::vector<Value>{a, a}, first, {.stream = streams[0]}));
  OK(program->callInto(0, std::vector<Value>{first[0], a}, second, {.stream = streams[0]}));
  OK(synchronize(streams[0]));
  EXPECT_EQ(read(second[0]), std::vector<float>(256, 10));
}
TEST_F(ProgramCalls, WithinTheCallersCapture) {
  findCapture();
  if (!beginCapture || !endCapture)
    GTEST_SKIP() << "the driver '" << device->driver().path() << "' captures no streams";
  const cuda::Driver &driver = device->driver();
  std::vector<Value> inputs = {vector(256, 1), vector(256, 2)}, results = {vector(256, 0)};
  cuda::ContextScope scope = device->enter();
  ASSERT_EQ(beginCapture(streams[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  OK(program->callInto(0, inputs, results, {.stream = streams[0]})); // the first call ever: it loads and allocates
  CUgraph graph = nullptr;
  ASSERT_EQ(endCapture(streams[0], &graph), CUDA_SUCCESS);
  EXPECT_EQ(read(results[0]), std::vector<float>(256, 0)); // nothing ran
  CUgraphExec exec = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(driver.cuGraphLaunch(exec, streams[1]), CUDA_SUCCESS);
  OK(synchronize(streams[1]));
  EXPECT_EQ(read(results[0]), std::vector<float>(256, 6));
  EXPECT_EQ(driver.cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
}
// What a garbage collector does at any moment: the strictest mode of a capture allows it, whatever still runs.
TEST_F(ProgramCalls, AProgramGoesWhileAnotherThreadCaptures) {
  findCapture();
  if (!beginCapture || !endCapture)
    GTEST_SKIP() << "the driver '" << device->driver().path() << "' captures no streams";
  std::vector<Value> inputs = {vector(1 << 16, 1), vector(1 << 16, 2)}, results;
  Value other = vector(256, 1);
  for (int i = 0; i < 20; ++i)
    OK(program->callInto(0, inputs, results, {.stream = streams[1]}));
  cuda::ContextScope scope = device->enter();
  ASSERT_EQ(beginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  std::thread collector([&] {
    program.reset();
    other = Value();
  });
  collector.join();
  CUgraph graph = nullptr;
  EXPECT_EQ(endCapture(streams[0], &graph), CUDA_SUCCESS);
  if (graph)
    EXPECT_EQ(device->driver().cuGraphDestroy(graph), CUDA_SUCCESS);
  OK(synchronize(streams[1]));
  EXPECT_EQ(read(results[0]), std::vector<float>(1 << 16, 6));
}
TEST_F(ProgramCalls, BetweenSemaphores) {
  auto timeline = Semaphore::create();
  std::vector<Value> first, second;
  const SemaphorePoint points[] = {{timeline, 1}, {timeline, 2}, {timeline, 3}};
  const Value a = vector(64, 1);
  OK(program->submit(*queue, {&points[0], 1}, 0, std::vector<Value>{a, a}, first, {&points[1], 1}));
  auto other = SubmissionQueue::create(device).take();
  OK(program->submit(*other, {&points[1], 1}, 0, std::vector<Value>{first[0], a}, second, {&points[2], 1}));
  FAILS(timeline->wait(3, 1000000), DeadlineExceeded, "waited for 3");
  OK(timeline->signal(1));
  OK(timeline->wait(3, kWaitForever));
  EXPECT_EQ(read(second[0]), std::vector<float>(64, 10));
}
TEST_F(ProgramCalls, FromSeveralThreads) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<Value> results;
      for (int i = 0; i < 8; ++i) {
        const float x = static_cast<float>(10 * t + i);
        const std::vector<Value> inputs = {vector(100, x), vector(100, 1)};
        right += program->callInto(0, inputs, results).ok() && read(results[0]) == std::vector<float>(100, 2 * x + 2);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 32);
}
TEST_F(ProgramCalls, SeveralProgramsInOneProcess) {
  auto second = Program::load(device, bytes->span(), "second").take();
  const std::vector<Value> inputs = {vector(64, 1), vector(64, 2)};
  std::vector<Value> a, b;
  OK(program->callInto(0, inputs, a));
  OK(second->callInto(0, inputs, b));
  program.reset();
  OK(second->callInto(0, inputs, b));
  EXPECT_EQ(read(a[0]), read(b[0]));
}

} // namespace tenon::conformance
