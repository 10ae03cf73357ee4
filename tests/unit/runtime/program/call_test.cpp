// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of a function that adds two vectors of dynamic length and scales the sum in place, on the fake driver.
#include "runtime/program/call_results.h"
#include "tests/unit/runtime/call_fixture.h"

#include <atomic>
#include <functional>
#include <thread>

namespace tenon::runtime {

TEST_F(CallTest, GoesFromInputsToOutputs) {
  load({addAndScale()});
  auto results = program->call(0, std::vector<Value>{vector({1, 2, 3}), vector({10, 20, 30}), scalar(2)});
  ASSERT_OK(results.status());
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ(read((*results)[0]), (std::vector<float>{22, 44, 66}));
  EXPECT_EQ(std::get<Scalar>((*results)[1]).bits, 3);
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(fake.launches[0].kernel, "add");
  EXPECT_EQ(fake.launches[0].block, (std::array<unsigned, 3>{64, 1, 1}));
}

TEST_F(CallTest, CallsAgainWithOtherShapesAndKeepsResults) {
  load({addAndScale()});
  auto first = program->call(0, std::vector<Value>{vector({1}), vector({2}), scalar(1)});
  auto second = program->call(
      0, std::vector<Value>{vector(std::vector<float>(100, 1)), vector(std::vector<float>(100, 1)), scalar(3)});
  ASSERT_OK(first.status());
  ASSERT_OK(second.status());
  EXPECT_EQ(read((*first)[0]), std::vector<float>{3});
  EXPECT_EQ(read((*second)[0]), std::vector<float>(100, 6));
  EXPECT_EQ(fake.loadedImages.size(), 1u);
  EXPECT_EQ(fake.launches[2].grid[0], 2u);
}

TEST_F(CallTest, AnEmptyGridLaunchesNothingAndLoadsNothing) {
  load({addAndScale()});
  auto results = program->call(0, std::vector<Value>{vector({}), vector({}), scalar(1)});
  ASSERT_OK(results.status());
  EXPECT_EQ(std::get<Tensor>((*results)[0]).shape, Shape{0});
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_TRUE(fake.loadedImages.empty());
  ASSERT_OK(program->call(0, std::vector<Value>{vector({1}), vector({2}), scalar(1)}).status());
  EXPECT_EQ(fake.loadedImages.size(), 1u);
}

TEST_F(CallTest, SeveralThreadsCallAtOnce) {
  load({addAndScale()});
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const float x = static_cast<float>(100 * t + i);
        auto results = program->call(0, std::vector<Value>{vector({x}), vector({1}), scalar(2)});
        right += results.ok() && read((*results)[0]) == std::vector<float>{2 * (x + 1)};
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 100);
  EXPECT_EQ(fake.loadedImages.size(), 1u);
}

// f() -> (c, c[0..2], c): who writes a result writes no constant.
TEST_F(CallTest, AConstantThatIsReturnedIsACopy) {
  FunctionSpec function{.name = "f"};
  function.registers = {RegisterOp(Const, 0, 0, 0, 1), RegisterOp(Const, 0, 0, 0, 3)};
  function.buffers = {{BufferSource::Constant, 0}};
  const TypeSpec type = {ElementType::F32, {-1}};
  function.results = {{.type = type, .buffer = 0, .shape = {0}},
                      {.type = type, .buffer = 0, .shape = {1}},
                      {.type = type, .buffer = 0, .shape = {0}}};
  const float constant[] = {1, 2, 3};
  const auto *bytes = reinterpret_cast<const uint8_t *>(constant);
  load({function}, {}, {{bytes, bytes + sizeof(constant)}});
  std::vector<Value> results;
  for (float written : {7.0f, 8.0f}) {
    results.clear();
    ASSERT_OK(program->callInto(0, {}, results));
    EXPECT_EQ(read(results[0]), std::vector<float>{1});
    EXPECT_EQ(read(results[1]), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(read(results[2]), std::vector<float>{1});
    *reinterpret_cast<float *>(std::get<Tensor>(results[0]).buffer->address()) = written;
  }
  const uint64_t address = std::get<Tensor>(results[1]).buffer->address();
  ASSERT_OK(program->callInto(0, {}, results)); // into the same memory
  EXPECT_EQ(std::get<Tensor>(results[1]).buffer->address(), address);
  EXPECT_EQ(read(results[1]), (std::vector<float>{1, 2, 3}));
}

namespace {

/// Memory for every result.
struct OwnMemory : ResultMemory {
  std::function<Result<std::shared_ptr<const Buffer>>(size_t, uint64_t)> give;
  Result<std::shared_ptr<const Buffer>> allocate(size_t index, const Tensor &, uint64_t bytes) override {
    return give(index, bytes);
  }
  bool isForAll() const override { return true; }
};

} // namespace

// f(a, b, factor) -> (a, sum, sum, b).
TEST_F(CallTest, EveryResultIsCopiedWhereTheCallerWantsIt) {
  FunctionSpec function = addAndScale();
  const ResultSpec sum = function.results[0];
  ResultSpec a = sum, b = sum;
  a.buffer = 0, b.buffer = 1;
  function.results = {a, sum, sum, b};
  load({function});
  const std::vector<Value> inputs = {vector({1, 2}), vector({10, 20}), scalar(2)};
  std::vector<Value> targets(4);
  for (Value &target : targets)
    target = vector({0, 0});
  OwnMemory memory;
  memory.give = [&](size_t index, uint64_t bytes) {
    EXPECT_EQ(bytes, 8u);
    return std::get<Tensor>(targets[index]).buffer;
  };
  std::vector<Value> results;
  ASSERT_OK(program->callInto(0, inputs, results, {.resultMemory = &memory}));
  const std::vector<float> wanted[] = {{1, 2}, {22, 44}, {22, 44}, {10, 20}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read(targets[i]), wanted[i]);
    EXPECT_EQ(std::get<Tensor>(results[i]).buffer, std::get<Tensor>(targets[i]).buffer);
  }
  const auto call = [&] { return program->callInto(0, inputs, results, {.resultMemory = &memory}); };
  targets[0] = inputs[0], targets[2] = targets[1]; // they lie there already
  ASSERT_OK(call());
  EXPECT_EQ(read(inputs[0]), wanted[0]);
  targets[2] = targets[3];
  EXPECT_STATUS(call(), InvalidArgument, "result 3: its buffer is memory of result 2");
  targets[2] = targets[1], targets[0] = targets[1];
  EXPECT_STATUS(call(), InvalidArgument, "result 0: its buffer is memory of result 1");
  targets[0] = inputs[1];
  EXPECT_STATUS(call(), InvalidArgument, "result 0: its buffer is memory of input 1");
}

// The scalars that kernels see are those of the call, whatever its caller does in between.
TEST_F(CallTest, ACallbackMayCallTheProgram) {
  load({addAndScale()});
  const std::vector<Value> inputs = {vector({1}), vector({2}), scalar(10)};
  const std::vector<Value> others = {vector({1}), vector({2}), scalar(100)};
  OwnMemory memory;
  memory.give = [&](size_t, uint64_t) -> Result<std::shared_ptr<const Buffer>> {
    if (auto between = program->call(0, others); !between.ok())
      return between.takeStatus();
    return std::get<Tensor>(vector({0})).buffer;
  };
  for (int i = 0; i < 3; ++i) {
    std::vector<Value> results;
    ASSERT_OK(program->callInto(0, inputs, results, {.resultMemory = &memory}));
    EXPECT_EQ(read(results[0]), std::vector<float>{30});
    EXPECT_EQ(read(program->call(0, others).take()[0]), std::vector<float>{300});
  }
}

// Wrong inputs: an error before any launch.
TEST_F(CallTest, RefusesWrongInputs) {
  FunctionSpec fixed = addAndScale();
  fixed.name = "fixed";
  fixed.inputs[0].shape = {4};
  load({addAndScale(), fixed});
  const Value a = vector({1, 2, 3}), s = scalar(1);
  const Value doubles = Tensor{ElementType::F64, {1}, std::get<Tensor>(a).buffer};
  const Value matrix = Tensor{ElementType::F32, {1, 3}, std::get<Tensor>(a).buffer};
  const Value negative = Tensor{ElementType::F32, {-1}, std::get<Tensor>(a).buffer};
  const Value tooLong = Tensor{ElementType::F32, {9}, std::get<Tensor>(a).buffer};
  struct Case {
    uint32_t function;
    std::vector<Value> inputs;
    const char *message;
  };
  const Case cases[] = {
      {0, {a}, "1 input given, function 'f' takes 3 (tensor<?xf32>, tensor<?xf32>, f32)"},
      {0,
       {a, doubles, s},
       "input 1 of function 'f' is tensor<1xf64>, expected tensor<?xf32>: the element types differ"},
      {0,
       {matrix, a, s},
       "input 0 of function 'f' is tensor<1x3xf32>, expected tensor<?xf32>: rank 2, expected rank 1"},
      {1,
       {a, a, s},
       "input 0 of function 'fixed' is tensor<3xf32>, expected tensor<4xf32>: dimension 0 is 3, expected 4"},
      {0, {a, a, a}, "input 2 of function 'f' is tensor<3xf32>, expected f32: a tensor was given for a scalar"},
      {0, {s, a, s}, "input 0 of function 'f' is f32, expected tensor<?xf32>: a scalar was given for a tensor"},
      {0, {a, a, Scalar{ElementType::I32, 1}}, "input 2 of function 'f' is i32, expected f32: the types differ"},
      {0, {a, tooLong, s}, "its buffer has 12 bytes, the tensor needs 36"},
      {0, {a, vector({1}), s}, "f.mlir:3:5: function 'f': the lengths differ (argument 0: 3, argument 1: 1)"},
      {0,
       {negative, a, s},
       "input 0 of function 'f' is tensor<-1xf32>, expected tensor<?xf32>: dimension 0 is -1, a size of 0 or more is "
       "wanted"},
  };
  for (const Case &c : cases)
    EXPECT_STATUS(program->call(c.function, c.inputs).status(), InvalidArgument, c.message);
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_TRUE(fake.loadedImages.empty());
}

TEST_F(CallTest, CopiesFillsAndRanges) {
  FunctionSpec function;
  function.name = "f";
  function.inputs = {{ElementType::F32, {2}}};
  function.registers = {RegisterOp(Const, 0, 0, 0, 16), RegisterOp(Const, 0, 0, 0, 8),
                        RegisterOp(Const, 0, 0, 0, std::bit_cast<uint32_t>(5.0f)), RegisterOp(Const, 0, 0, 0, 4)};
  function.buffers = {{BufferSource::Input, 0}, {BufferSource::Transient, 0, 0}};
  function.commands = {{.kind = CommandSpec::Fill, .ranges = {wholeBuffer(1)}, .constants = {2}},
                       {.kind = CommandSpec::Copy, .ranges = {wholeBuffer(0), abi::fb::BufferRange(1, 1, 1)}}};
  function.results = {{.type = {ElementType::F32, {-1}}, .buffer = 1, .shape = {3}}};
  load({function});
  auto results = program->call(0, std::vector<Value>{vector({1, 2})});
  ASSERT_OK(results.status());
  EXPECT_EQ(read((*results)[0]), (std::vector<float>{5, 5, 1, 2}));
}

TEST_F(CallTest, RangesAndGridsAreChecked) {
  FunctionSpec function = addAndScale();
  function.registers.push_back(RegisterOp(Const, 0, 0, 0, 1000));  // 9
  function.registers.push_back(RegisterOp(Const, 0, 0, 0, -1));    // 10
  function.registers.push_back(RegisterOp(Const, 0, 0, 0, 65536)); // 11
  FunctionSpec offset = function, length = function, negative = function, tall = function, shape = function;
  offset.commands[0].ranges[1] = abi::fb::BufferRange(1, 9, kWhole);
  length.name = "length", length.commands[0].ranges[1] = abi::fb::BufferRange(1, kWhole, 9);
  negative.name = "negative", negative.commands[0].grid = {10, 7, 7};
  tall.name = "tall", tall.commands[0].grid = {7, 11, 7};
  shape.name = "shape", shape.results[0].shape = {9};
  load({offset, length, negative, tall, shape});
  const std::vector<Value> inputs = {vector({1}), vector({1}), scalar(1)};
  EXPECT_STATUS(
      program->call(0, inputs).status(), OutOfRange,
      "f.mlir:5:7: function 'f', command 0 (Dispatch of 'add', variant 'sm_80'): binding 1: a range of buffer "
      "1 starts at byte 1000, the buffer has 4");
  EXPECT_STATUS(program->call(1, inputs).status(), OutOfRange, "a range of buffer 1 has 1000 bytes from byte 0");
  EXPECT_STATUS(program->call(2, inputs).status(), OutOfRange, "the workgroup count is -1 along x");
  EXPECT_STATUS(program->call(3, inputs).status(), OutOfRange, "the workgroup count is 65536 along y");
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_STATUS(program->call(4, inputs).status(), OutOfRange,
                "result 0 of function 'shape' is tensor<1000xf32> (4000 bytes) in a buffer of 4 bytes");
}

TEST_F(CallTest, ANegativeTransientIsAnError) {
  FunctionSpec function{.name = "f"};
  function.registers = {RegisterOp(Const, 0, 0, 0, -8)};
  function.buffers = {{BufferSource::Transient, 0, 0}};
  load({function});
  EXPECT_STATUS(program->call(0, {}).status(), OutOfRange, "function 'f': buffer 0 has -8 bytes");
}

TEST_F(CallTest, AFaultNamesTheOnlyDispatch) {
  FunctionSpec function = addAndScale();
  function.commands.pop_back();
  load({function});
  fake.kernels["add"] = [this](const FakeLaunch &) { fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS; };
  EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1}), vector({1}), scalar(1)}).status(), Aborted,
                "f.mlir:5:7: function 'f', command 0 (Dispatch of 'add', variant 'sm_80'): cuStreamSynchronize: "
                "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  fake.sticky = CUDA_SUCCESS;
}

TEST_F(CallTest, AFaultAmongSeveralNamesThemAllOrTheOne) {
  load({addAndScale()});
  const std::vector<Value> inputs = {vector({1}), vector({1}), scalar(1)};
  fake.kernels["scale"] = [this](const FakeLaunch &) { fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS; };
  Status status = program->call(0, inputs).takeStatus();
  EXPECT_STATUS(status, Aborted, "one of these dispatches failed; run with --synchronous to know which");
  EXPECT_STATUS(status, Aborted, "\n  f.mlir:5:7: function 'f', command 0 (Dispatch of 'add'");
  EXPECT_STATUS(status, Aborted, "\n  f.mlir:8:7: function 'f', command 1 (Dispatch of 'scale'");
  fake.sticky = CUDA_SUCCESS;
  EXPECT_STATUS(program->call(0, inputs, {.synchronous = true}).status(), Aborted,
                "f.mlir:8:7: function 'f', command 1 (Dispatch of 'scale', variant 'sm_80'): cuStreamSynchronize");
  fake.sticky = CUDA_SUCCESS;
}

// A fault may come back from the next launch: it is not said to be that one's.
TEST_F(CallTest, AFaultThatALaterLaunchReportsNamesBoth) {
  load({addAndScale()});
  const std::vector<Value> inputs = {vector({1}), vector({1}), scalar(1)};
  fake.kernels["add"] = [this](const FakeLaunch &) {
    fake.failures["cuLaunchKernel"] = fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  };
  Status status = program->call(0, inputs, {.graph = false}).takeStatus();
  EXPECT_STATUS(status, Aborted, "function 'f': cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_STATUS(status, Aborted, "command 0 (Dispatch of 'add'");
  EXPECT_STATUS(status, Aborted, "command 1 (Dispatch of 'scale'");
  fake.sticky = CUDA_SUCCESS;
  fake.launches.resize(device->statistics().launches);
}

// Every single call to the driver fails once, from opening the device to reading the result: the failure is reported
// unless it came while giving something back, and nothing is left (the counts below).
TEST_F(CallTest, NoFailureOfTheDriverLeaves) {
  auto run = [&]() -> Status {
    auto driver = cuda::Driver::openFirst({fakeDriverPath()}, "the fake");
    TENON_RETURN_IF_ERROR(driver.takeStatus());
    TENON_ASSIGN_OR_RETURN(auto opened, Device::create(driver.take(), 0));
    TENON_ASSIGN_OR_RETURN(auto loaded, Program::load(opened, bytes->span(), "test"));
    const HostTensor one{ElementType::F32, {1}, {0, 0, 128, 63}};
    TENON_ASSIGN_OR_RETURN(Tensor a, uploadTensor(*opened, one));
    TENON_ASSIGN_OR_RETURN(Tensor b, uploadTensor(*opened, one));
    TENON_ASSIGN_OR_RETURN(auto results, loaded->call(0, std::vector<Value>{a, b, scalar(2)}));
    TENON_ASSIGN_OR_RETURN(HostTensor back, downloadTensor(*opened, std::get<Tensor>(results[0])));
    return back.bytes == std::vector<uint8_t>{0, 0, 128, 64} ? okStatus() : makeError(StatusCode::Internal, "not 4");
  };
  load({addAndScale()});
  program.reset();
  device.reset();
  fake.calls.clear();
  ASSERT_OK(run());
  const std::vector<std::string> calls = fake.calls;
  int reported = 0;
  for (fake.failAtCall = 0; fake.failAtCall < int(calls.size()); ++fake.failAtCall) {
    fake.calls.clear();
    const std::string &function = calls[size_t(fake.failAtCall)];
    Status status = run();
    const bool givesBack = function == "cuMemFreeAsync" || function == "cuCtxPopCurrent_v2" ||
                           function == "cuModuleUnload" || function == "cuStreamDestroy_v2" ||
                           function == "cuDevicePrimaryCtxRelease_v2" || function == "cuCtxPushCurrent_v2" ||
                           function == "cuDeviceGetAttribute" || function == "cuFuncGetParamInfo" ||
                           function == "cuGraphExecDestroy" || function == "cuGraphDestroy" ||
                           function == "cuThreadExchangeStreamCaptureMode";
    if (!givesBack) {
      EXPECT_FALSE(status.ok()) << "call " << fake.failAtCall << ", " << function;
    }
    reported += !status.ok();
    // What the fake refused to give back is still counted.
    EXPECT_LE(fake.liveAllocations, function == "cuMemFreeAsync") << function;
    EXPECT_LE(fake.liveModules, function == "cuModuleUnload") << function;
    EXPECT_LE(fake.liveStreams, function == "cuStreamDestroy_v2") << function;
    EXPECT_LE(fake.retained, function == "cuDevicePrimaryCtxRelease_v2") << function;
    EXPECT_LE(fake.contextDepth, function == "cuCtxPopCurrent_v2") << function;
    EXPECT_LE(fake.liveGraphs, function == "cuGraphExecDestroy" || function == "cuGraphDestroy") << function;
    fake.liveGraphs = 0;
    fake.liveAllocations = fake.liveModules = fake.liveStreams = fake.retained = fake.contextDepth = 0;
  }
  EXPECT_GT(reported, 20);
  fake.failAtCall = -1;
  fake.launches.clear();
}

// Whatever call fails: an error that names it, nothing left behind (the fixture looks), and the next call works.
TEST_F(CallTest, EveryFailureIsReportedAndLeavesNothing) {
  load({addAndScale()});
  size_t length = 0;
  for (const char *function :
       {"cuMemAllocAsync", "cuLaunchKernel", "cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags",
        "cuGraphLaunch", "cuGraphExecKernelNodeSetParams_v2", "cuStreamSynchronize"}) {
    const std::vector<float> ones(++length, 1); // another plan
    const std::vector<Value> inputs = {vector(ones), vector(ones), scalar(3)};
    const CallOptions options = {.graph = std::string_view(function) != "cuLaunchKernel"};
    const bool isPatch = std::string_view(function) == "cuGraphExecKernelNodeSetParams_v2";
    auto earlier = isPatch ? program->call(0, inputs, options) : std::vector<Value>(); // its memory stays in use
    ASSERT_OK(earlier.status());
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    fake.failuresLeft = {{function, 1}};
    EXPECT_STATUS(program->call(0, inputs, options).status(), ResourceExhausted, function);
    fake.failures.clear();
    auto again = program->call(0, inputs, options);
    ASSERT_OK(again.status());
    EXPECT_EQ(read((*again)[0]), std::vector<float>(length, 6));
  }
  // Launches that the driver refused were counted as tried.
  fake.launches.resize(device->statistics().launches);
}

/// f with a temporary for the sum, which lies where the file says: register 9 of an arena of register 10 bytes.
static FunctionSpec addInArena(int64_t offset, int64_t arena) {
  FunctionSpec function = addAndScale();
  function.registers.push_back(RegisterOp(Const, 0, 0, 0, offset)); // 9
  function.registers.push_back(RegisterOp(Const, 0, 0, 0, arena));  // 10
  function.buffers.push_back({BufferSource::Transient, 0, 4, 9});
  function.arena = 10;
  function.commands[0].ranges[2] = wholeBuffer(3);
  function.commands.insert(function.commands.begin() + 1,
                           {.kind = CommandSpec::Copy, .ranges = {wholeBuffer(3), wholeBuffer(2)}});
  return function;
}

TEST_F(CallTest, TransientsLieWhereTheFileSays) {
  load({addInArena(512, 1024)});
  const std::vector<Value> inputs = {vector({1, 2, 3}), vector({10, 20, 30}), scalar(2)};
  auto results = program->call(0, inputs);
  ASSERT_OK(results.status());
  EXPECT_EQ(read((*results)[0]), (std::vector<float>{22, 44, 66}));
  // The arena is one allocation, and the first of its buffers is not at its start.
  EXPECT_EQ(fake.count("cuMemAlloc_v2") + fake.count("cuMemAllocAsync"), 4u);
}

TEST_F(CallTest, RefusesTransientsOutsideTheArena) {
  struct Case {
    int64_t offset, arena;
    const char *message;
  };
  for (const Case &c : {Case{1024, 1024, "buffer 3 of 12 bytes is at byte 1024 of an arena of 1024 bytes"},
                        Case{-256, 1024, "is at byte -256 of an arena"}, Case{8, 1024, "is at byte 8 of an arena"},
                        Case{0, 8, "buffer 3 of 12 bytes is at byte 0 of an arena of 8 bytes"},
                        Case{0, -1, "its transients take -1 bytes"}}) {
    load({addInArena(c.offset, c.arena)});
    EXPECT_STATUS(program->call(0, std::vector<Value>{vector({1, 2, 3}), vector({1, 2, 3}), scalar(1)}).status(),
                  OutOfRange, c.message);
    program.reset();
    device.reset();
  }
  EXPECT_TRUE(fake.launches.empty());
}

} // namespace tenon::runtime
