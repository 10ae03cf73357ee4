// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ wrapper. Compiled twice: with exceptions, and (TENON_NO_EXCEPTIONS) with values that may be errors.
#include "tests/unit/runtime/c_api_fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <fstream>
#include <tenon/runtime.hpp>

namespace tenon::test {

namespace {

#ifdef TENON_NO_EXCEPTIONS
template <typename T> T must(Expected<T> given) {
  EXPECT_TRUE(given.has_value()) << given.error().what();
  return std::move(*given);
}
void must(const Expected<void> &given) {
  EXPECT_TRUE(given.has_value());
}
template <typename Call> std::string messageOf(Call call, tenon_status_code_t code) {
  auto given = call();
  EXPECT_FALSE(given.has_value());
  EXPECT_EQ(given.error().code(), code);
  return given.error().what();
}
#define MUST(expression) must(expression)
#else
template <typename Call> std::string messageOf(Call call, tenon_status_code_t code) {
  try {
    (void)call();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}
#define MUST(expression) expression
#endif

class RuntimeHppTest : public CApiTest {
protected:
  RuntimeHppTest() {
    fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 4}};
    fake.kernels["add"] = [](const FakeLaunch &launch) {
      *reinterpret_cast<float *>(launch.parameter<uint64_t>(1)) =
          *reinterpret_cast<float *>(launch.parameter<uint64_t>(0)) + launch.parameter<float>(2);
    };
  }
};

} // namespace

TEST_F(RuntimeHppTest, LaunchesAKernel) {
  const std::vector<uint8_t> bytes = buildExecutable("exe", {makeExport("add", 2, 1)}, {{.name = "v", .image = "ptx"}});
  const std::string path = testing::TempDir() + "/runtime_hpp_test.tnx";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), std::ssize(bytes));
  Device own = MUST(Device::open());
  EXPECT_STREQ(MUST(own.info()).name, "Fake GPU");
  Executable kernels = MUST(own.openExecutable(path.c_str()));
  EXPECT_EQ(kernels.exportCount(), 1u);
  EXPECT_STREQ(MUST(kernels.exportInfo(0)).name, "add");
  const std::vector<float> values = {1.5f};
  Buffer from = MUST(own.upload(std::span(values)));
  Buffer to = MUST(own.allocate(4, TENON_HOST_VISIBLE));
  MUST(kernels.launch("add", {1, 1, 1}, {from, to}, {word(2.25f)}));
  MUST(own.wait());
  EXPECT_EQ(MUST(to.download<float>()), (std::vector<float>{3.75f}));
  EXPECT_EQ(MUST(to.map<float>())[0], 3.75f);
  MUST(to.write(std::span(values)));
  float back = 0;
  MUST(to.read(std::span(&back, 1)));
  EXPECT_EQ(back, 1.5f);
  EXPECT_NE(MUST(kernels.explain()).find("export 0 'add'"), std::string::npos);
  EXPECT_NE(messageOf([&] { return kernels.launch("add", {1, 1, 1}, {from}); }, TENON_INVALID_ARGUMENT)
                .find("takes 2 buffers"),
            std::string::npos);
}

TEST_F(RuntimeHppTest, CopiesOfABufferShareItsMemory) {
  Device own = MUST(Device::open());
  Buffer first = MUST(own.allocate(16));
  const uint64_t address = first.address();
  Buffer second = first;
  first = MUST(own.allocate(8));
  EXPECT_EQ(second.address(), address);
  EXPECT_EQ(second.bytes(), 16u);
  Buffer *same = &second;
  second = *same;
  EXPECT_EQ(second.address(), address);
  first = std::move(second);
  EXPECT_EQ(first.address(), address);
  Buffer lent = MUST(own.import(address, 16));
  EXPECT_EQ(lent.address(), address);
}

TEST_F(RuntimeHppTest, CallsAProgram) {
  FunctionSpec function;
  function.name = "both";
  function.inputs = {{abi::ElementType::F32, {-1}, false}, {abi::ElementType::I32, {}, true}};
  function.registers = {{abi::fb::RegisterOpcode::Dim, 0, 0, 0, 0}, {abi::fb::RegisterOpcode::Arg, 1, 0, 0, 0}};
  function.buffers = {{abi::fb::BufferSource::Input, 0}};
  function.results = {{.type = {abi::ElementType::F32, {-1}, false}, .buffer = 0, .shape = {0}},
                      {.type = {abi::ElementType::I32, {}, true}, .scalar = 1}};
  const AlignedBytes bytes = buildProgram({function}, {});
  Device own = MUST(Device::open());
  Program program = MUST(own.createProgram(std::as_bytes(bytes.span())));
  ASSERT_EQ(program.functionCount(), 1u);
  EXPECT_EQ(MUST(program.functionInfo(0)).input_count, 2u);
  EXPECT_EQ(MUST(program.inputInfo(0, 0)).rank, 1u);
  EXPECT_TRUE(MUST(program.resultInfo(0, 1)).is_scalar);
  const std::vector<float> values = {1, 2, 3};
  const Value tensor(MUST(own.upload(std::span(values))), TENON_F32, {3});
  const std::vector<Value> results = MUST(program.call("both", {tensor, int32_t(-3)}));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0].isTensor());
  EXPECT_EQ(results[0].shape()[0], 3);
  EXPECT_EQ(MUST(results[0].buffer().download<float>()), values);
  EXPECT_FALSE(results[1].isTensor());
  EXPECT_EQ(results[1].bits(), -3);
  EXPECT_EQ(results[1].element(), TENON_I32);
  EXPECT_EQ(MUST(program.explain()), "the program has no executables\n");
  EXPECT_NE(messageOf([&] { return program.call("neither", {tensor}); }, TENON_NOT_FOUND).find("'neither'"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { return program.call("", {tensor}); }, TENON_INVALID_ARGUMENT).find("1 input given"),
            std::string::npos);
}

TEST(RuntimeHppErrors, CarryTheLibrarysText) {
  EXPECT_EQ(messageOf([] { return Device::open("vulkan"); }, TENON_INVALID_ARGUMENT).find("unknown device 'vulkan'"),
            0u);
  const Error error = Error::take(tenon_status_create(TENON_DATA_LOSS, "cut"));
  EXPECT_STREQ(error.what(), "cut");
  EXPECT_STREQ(error.codeName(), "data loss");
}

} // namespace tenon::test
