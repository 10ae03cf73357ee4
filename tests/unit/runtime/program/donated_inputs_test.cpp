// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of functions that write their inputs, on the fake driver.
#include "runtime/program/donated_inputs.h"

#include "runtime/memory/allocator.h"
#include "tests/unit/runtime/call_fixture.h"

namespace tenon::runtime {
namespace {

/// f(%a, %factor) -> (tensor<?xf32>, tensor<?xf32>): a is scaled where it lies, and comes back twice.
FunctionSpec scaleInPlace() {
  FunctionSpec function = addAndScale();
  function.inputs.erase(function.inputs.begin() + 1);
  function.registers[1] = RegisterOp(Dim, 0, 0, 0, 0);
  function.registers[8] = RegisterOp(Arg, 1, 0, 0, 0);
  function.buffers = {{BufferSource::Input, 0}};
  function.commands.erase(function.commands.begin());
  function.commands[0].ranges = {wholeBuffer(0)};
  function.results[0].buffer = 0;
  function.results[1] = function.results[0];
  function.donated = {0};
  return function;
}

/// f(%a, %b, %factor): b is added to a, where a lies, which is what it is for.
FunctionSpec addInto() {
  FunctionSpec function = addAndScale();
  function.buffers = {{BufferSource::Input, 0}, {BufferSource::Input, 1}};
  function.commands.pop_back();
  function.commands[0].ranges = {wholeBuffer(0), wholeBuffer(1), wholeBuffer(0)};
  function.results.clear();
  function.donated = {0};
  function.updated = {0};
  return function;
}

uint64_t addressOf(const Value &value) {
  return std::get<Tensor>(value).buffer->address();
}

/// Bytes of another tensor's memory.
Value part(const Value &value, uint64_t offset, int64_t elements) {
  const auto &whole = std::get<Tensor>(value).buffer;
  auto buffer = std::make_shared<Buffer>(whole->device().shared_from_this(), whole->address() + offset,
                                         4 * uint64_t(elements), BufferOptions(), nullptr, [whole] {});
  return Tensor{ElementType::F32, {elements}, buffer};
}

} // namespace

TEST_F(CallTest, ADonatedInputComesBackWhereItLies) {
  load({scaleInPlace()});
  const Value a = vector({1, 2, 3});
  for (int call = 1; call < 4; ++call) {
    auto results = program->call(0, std::vector<Value>{a, scalar(2)});
    ASSERT_OK(results.status());
    EXPECT_EQ(addressOf((*results)[0]), addressOf(a));
    EXPECT_EQ(addressOf((*results)[1]), addressOf(a));
    EXPECT_EQ(read(a), (std::vector<float>{1.0f * (1 << call), 2.0f * (1 << call), 3.0f * (1 << call)}));
  }
}

TEST_F(CallTest, ADonatedInputThatIsKeptIsCopied) {
  load({scaleInPlace()});
  const Value a = vector({1, 2, 3});
  CallOptions options;
  options.keepsInputs = true;
  auto results = program->call(0, std::vector<Value>{a, scalar(2)}, options);
  ASSERT_OK(results.status());
  EXPECT_EQ(read(a), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(read((*results)[0]), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(addressOf((*results)[1]), addressOf((*results)[0]));
  options.stream = device->stream().handle();
  results = program->call(0, std::vector<Value>{a, scalar(3)}, options);
  ASSERT_OK(results.status());
  EXPECT_EQ(read(a), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(read((*results)[0]), (std::vector<float>{3, 6, 9}));
}

TEST_F(CallTest, AnUpdatedInputIsWrittenWhateverIsKept) {
  load({addInto()});
  const Value a = vector({1, 2, 3});
  CallOptions options;
  options.keepsInputs = true;
  ASSERT_OK(program->call(0, std::vector<Value>{a, vector({10, 20, 30}), scalar(0)}, options).status());
  EXPECT_EQ(read(a), (std::vector<float>{11, 22, 33}));
}

TEST_F(CallTest, ADonatedInputIsTheCallsAlone) {
  load({addInto()});
  const Value a = vector({1, 2, 3, 4});
  auto call = [&](const Value &first, const Value &second) {
    return program->call(0, std::vector<Value>{first, second, scalar(0)}).takeStatus();
  };
  EXPECT_STATUS(
      call(a, a), InvalidArgument,
      "input 0 of function 'f' is donated, which the function writes, and its buffer is memory of input 1, too");
  EXPECT_STATUS(call(part(a, 0, 3), part(a, 4, 3)), InvalidArgument, "is memory of input 1, too");
  EXPECT_EQ(read(a), (std::vector<float>{1, 2, 3, 4}));
  ASSERT_OK(call(part(a, 0, 2), part(a, 8, 2)));
  EXPECT_EQ(read(a), (std::vector<float>{4, 6, 3, 4}));
  ASSERT_OK(call(part(a, 0, 0), part(a, 0, 0))) << "what is empty lies nowhere";
  EXPECT_STATUS(call(part(a, 0, 2), Tensor{ElementType::F32, {3}, std::get<Tensor>(part(a, 8, 2)).buffer}),
                InvalidArgument, "its buffer has 8 bytes, the tensor needs 12");
}

TEST_F(CallTest, ADonatedInputCanBeWritten) {
  load({scaleInPlace()});
  auto buffer = allocateBuffer(*device, 12, {.access = kAccessRead});
  ASSERT_OK(buffer.status());
  const std::vector<Value> inputs = {Tensor{ElementType::F32, {3}, *buffer}, scalar(2)};
  EXPECT_STATUS(program->call(0, inputs).status(), FailedPrecondition, "is read only");
}

TEST_F(CallTest, AResultIsNoDonatedMemoryOfTheCallers) {
  FunctionSpec function = addInto();
  function.buffers.push_back({BufferSource::Transient, 0, 4});
  function.commands.push_back(function.commands[0]);
  function.commands[1].ranges = {wholeBuffer(0), wholeBuffer(1), wholeBuffer(2)};
  function.results = {addAndScale().results[0]};
  load({function});
  const Value a = vector({1, 2}), b = vector({10, 20});
  std::vector<Value> results = {a};
  EXPECT_STATUS(program->callInto(0, std::vector<Value>{a, b, scalar(0)}, results), InvalidArgument,
                "result 0: its buffer is memory of input 0");
  results = {vector({0, 0})};
  ASSERT_OK(program->callInto(0, std::vector<Value>{a, b, scalar(0)}, results));
  EXPECT_EQ(read(a), (std::vector<float>{11, 22}));
  EXPECT_EQ(read(results[0]), (std::vector<float>{21, 42})) << "read when it was written";
}

} // namespace tenon::runtime
