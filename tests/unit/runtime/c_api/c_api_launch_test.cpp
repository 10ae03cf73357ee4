// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The short way of the C API: open, create, launch, read, and what a program says of itself.
#include "tests/unit/runtime/c_api_fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <cstring>
#include <fstream>

namespace tenon::test {

class CApiLaunchTest : public CApiTest {
protected:
  CApiLaunchTest() {
    abi::Export add = makeExport("add", 2, 1);
    add.layout.bindings[0].alignment = 16;
    add.layout.bindings[1].name = "sum";
    bytes = buildExecutable("exe", {add}, {{.name = "v", .image = "ptx"}});
    fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 4}};
    fake.kernels["add"] = [](const FakeLaunch &launch) {
      *reinterpret_cast<uint32_t *>(launch.parameter<uint64_t>(1)) +=
          *reinterpret_cast<uint32_t *>(launch.parameter<uint64_t>(0)) + launch.parameter<uint32_t>(2);
    };
    expectOk(tenon_executable_create(device, bytes.data(), bytes.size(), "test", &executable));
  }
  ~CApiLaunchTest() override { tenon_executable_release(executable); }

  tenon_buffer_t *word(uint32_t value, const tenon_buffer_options_t *options = nullptr) {
    tenon_buffer_t *made = nullptr;
    expectOk(tenon_buffer_create(device, &value, sizeof(value), options, &made));
    return made;
  }

  std::vector<uint8_t> bytes;
  tenon_executable_t *executable = nullptr;
  const uint32_t one[3] = {1, 1, 1};
};

TEST_F(CApiLaunchTest, LaunchesWithoutACommandBuffer) {
  tenon_buffer_t *buffers[] = {word(30), word(7)};
  const uint64_t constant = 5;
  expectOk(tenon_executable_launch(executable, "add", one, buffers, 2, &constant, 1, nullptr));
  expectOk(tenon_device_wait(device));
  uint32_t sum = 0;
  expectOk(tenon_buffer_read(buffers[1], 0, &sum, sizeof(sum)));
  EXPECT_EQ(sum, 42u);
  const tenon_memory_range_t ranges[] = {{tenon_buffer_address(buffers[0]), 4}, {tenon_buffer_address(buffers[1]), 4}};
  expectOk(tenon_executable_launch_ranges(executable, 0, one, ranges, 2, &constant, 1, nullptr));
  expectOk(tenon_buffer_read(buffers[1], 0, &sum, sizeof(sum)));
  EXPECT_EQ(sum, 77u);
  const uint32_t none[3] = {1, 0, 1};
  expectOk(tenon_executable_launch(executable, "add", none, buffers, 2, &constant, 1, nullptr));
  expectOk(tenon_buffer_read(buffers[1], 0, &sum, sizeof(sum)));
  EXPECT_EQ(sum, 77u);
  tenon_buffer_release(buffers[0]);
  tenon_buffer_release(buffers[1]);
}

TEST_F(CApiLaunchTest, SaysWhatIsWrongWithALaunch) {
  tenon_buffer_t *buffers[] = {word(30), word(7)};
  const uint64_t constants[] = {5, 6};
  auto launch = [&](size_t count, size_t words) {
    return tenon_executable_launch(executable, "add", one, buffers, count, constants, words, nullptr);
  };
  expectStatus(launch(1, 1), TENON_INVALID_ARGUMENT, "takes 2 buffers and 1 word of constants");
  expectStatus(launch(2, 2), TENON_INVALID_ARGUMENT, "2 and 2 were given");
  expectStatus(tenon_executable_launch(executable, "sub", one, buffers, 2, constants, 1, nullptr), TENON_NOT_FOUND,
               "'sub'");
  const uint32_t many[3] = {1, 65536, 1};
  expectStatus(tenon_executable_launch(executable, "add", many, buffers, 2, constants, 1, nullptr), TENON_OUT_OF_RANGE,
               "export 'add': the workgroup count is 65536 along y");
  const tenon_memory_range_t crooked[] = {{8, 4}, {16, 4}};
  expectStatus(tenon_executable_launch_ranges(executable, 0, one, crooked, 2, constants, 1, nullptr),
               TENON_INVALID_ARGUMENT, "binding 0 is at address 8, which is no multiple of 16");
  expectStatus(tenon_executable_launch_ranges(executable, 3, one, crooked, 2, constants, 1, nullptr),
               TENON_OUT_OF_RANGE, "there is no export 3");
  tenon_buffer_release(buffers[1]);
  buffers[1] = nullptr;
  expectStatus(launch(2, 1), TENON_INVALID_ARGUMENT, "buffer 1 of 'buffers' is NULL");
  tenon_buffer_options_t options = {.struct_size = sizeof(options)};
  options.access = TENON_ACCESS_READ;
  buffers[1] = word(1, &options);
  expectStatus(launch(2, 1), TENON_FAILED_PRECONDITION, "binding 1 is written, the buffer is read only");
  tenon_buffer_release(buffers[1]);
  options.access = 0, options.usage = TENON_USAGE_TRANSFER_TARGET;
  buffers[1] = word(1, &options);
  expectStatus(launch(2, 1), TENON_FAILED_PRECONDITION, "is a buffer for transfer target, not for dispatches");
  tenon_buffer_release(buffers[1]);
  tenon_buffer_release(buffers[0]);
  expectStatus(tenon_executable_launch(executable, "add", one, nullptr, 2, constants, 1, nullptr),
               TENON_INVALID_ARGUMENT, "'buffers' is NULL");
  expectStatus(tenon_executable_launch(executable, "add", nullptr, nullptr, 0, constants, 1, nullptr),
               TENON_INVALID_ARGUMENT, "'grid' is NULL");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CApiLaunchTest, LargeArgumentsAreLaunchedToo) {
  abi::Export wide = makeExport("wide", 40, 200);
  const std::vector<uint8_t> image = buildExecutable("exe", {wide}, {{.name = "v", .image = "ptx"}});
  std::vector<uint64_t> words(200);
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = i;
  uint32_t last = 0;
  for (size_t i = 0; i < 240; ++i)
    fake.parameters["wide"].push_back(i < 40 ? std::pair<size_t, size_t>(8 * i, 8)
                                             : std::pair<size_t, size_t>(320 + 4 * (i - 40), 4));
  fake.kernels["wide"] = [&](const FakeLaunch &launch) { last = launch.parameter<uint32_t>(239); };
  tenon_executable_t *made = nullptr;
  expectOk(tenon_executable_create(device, image.data(), image.size(), "test", &made));
  const std::vector<tenon_memory_range_t> ranges(40, {tenon_buffer_address(buffer), 4});
  expectOk(
      tenon_executable_launch_ranges(made, 0, one, ranges.data(), ranges.size(), words.data(), words.size(), nullptr));
  expectOk(tenon_device_wait(device));
  EXPECT_EQ(last, 199u);
  tenon_executable_release(made);
}

TEST_F(CApiLaunchTest, OpensFilesAndDevices) {
  const std::string path = testing::TempDir() + "/launch_test.tnx";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), std::ssize(bytes));
  tenon_device_t *same = nullptr;
  expectOk(tenon_device_open_default("", &same));
  tenon_executable_t *opened = nullptr;
  expectOk(tenon_executable_open(same, path.c_str(), &opened));
  EXPECT_EQ(tenon_executable_export_count(opened), 1u);
  std::string table;
  expectOk(tenon_executable_explain(
      opened, [](void *user, const char *text) { *static_cast<std::string *>(user) += text; }, &table));
  EXPECT_NE(table.find("export 0 'add'"), std::string::npos) << table;
  tenon_executable_release(opened);
  expectStatus(tenon_executable_open(same, "no/such.tnx", &opened), TENON_NOT_FOUND, "no/such.tnx");
  EXPECT_EQ(opened, nullptr);
  tenon_device_release(same);
  expectStatus(tenon_device_open_default("vulkan", &same), TENON_INVALID_ARGUMENT, "unknown device 'vulkan'");
}

TEST_F(CApiLaunchTest, SlotsSayHowTheyAreFilled) {
  tenon_slot_info_t slot = {.struct_size = sizeof(slot)};
  expectOk(tenon_executable_slot_info(executable, 0, 0, &slot));
  EXPECT_TRUE(slot.read_only);
  EXPECT_EQ(slot.alignment, 16u);
  expectOk(tenon_executable_slot_info(executable, 0, 1, &slot));
  EXPECT_FALSE(slot.read_only);
  EXPECT_STREQ(slot.name, "sum");
  expectOk(tenon_executable_slot_info(executable, 0, 2, &slot));
  EXPECT_EQ(slot.kind, TENON_SLOT_CONSTANT);
  EXPECT_EQ(slot.constant_kind, TENON_CONSTANT_WORD);
  EXPECT_EQ(slot.first_word, 0u);
  EXPECT_EQ(slot.word_count, 1u);
}

TEST_F(CApiLaunchTest, BuffersHaveSeveralReferences) {
  tenon_buffer_t *first = word(9), *second = nullptr;
  expectOk(tenon_buffer_retain(first, &second));
  tenon_buffer_release(first);
  uint32_t value = 0;
  expectOk(tenon_buffer_read(second, 0, &value, sizeof(value)));
  EXPECT_EQ(value, 9u);
  tenon_buffer_release(second);
  expectStatus(tenon_buffer_retain(nullptr, &second), TENON_INVALID_ARGUMENT, "'buffer' is NULL");
  tenon_status_release(nullptr);
}

TEST(CApiValues, HoldTheirBits) {
  EXPECT_EQ(tenon_value_f32(2).scalar_bits, 0x40000000);
  EXPECT_EQ(tenon_value_f32(-2).scalar_bits, 0xc0000000);
  EXPECT_EQ(tenon_value_f64(2).scalar_bits, 0x4000000000000000);
  EXPECT_EQ(tenon_value_i32(-7).scalar_bits, -7);
  EXPECT_EQ(tenon_value_i32(-7).element, TENON_I32);
  EXPECT_EQ(tenon_value_i1(true).scalar_bits, -1);
  EXPECT_EQ(tenon_value_index(3).element, TENON_INDEX);
  EXPECT_EQ(tenon_value_i64(3).struct_size, sizeof(tenon_value_t));
  EXPECT_EQ(tenon_word_f32(1), 0x3f800000u);
  EXPECT_EQ(tenon_word_i32(-1), ~uint64_t(0));
  const int64_t shape[] = {2, 3};
  const tenon_value_t tensor = tenon_value_tensor(nullptr, TENON_F16, shape, 2);
  EXPECT_EQ(tensor.shape, shape);
  EXPECT_EQ(tensor.rank, 2u);
}

// A program that returns its input and a scalar.
class CApiReflectionTest : public CApiTest {
protected:
  CApiReflectionTest() {
    FunctionSpec function;
    function.name = "both";
    function.inputs = {{abi::ElementType::F32, {-1, 4}, false}, {abi::ElementType::I32, {}, true}};
    function.registers = {{abi::fb::RegisterOpcode::Dim, 0, 0, 0, 0},
                          {abi::fb::RegisterOpcode::Const, 0, 0, 0, 4},
                          {abi::fb::RegisterOpcode::Arg, 1, 0, 0, 0}};
    function.buffers = {{abi::fb::BufferSource::Input, 0}};
    function.results = {{.type = {abi::ElementType::F32, {-1, 4}, false}, .buffer = 0, .shape = {0, 1}},
                        {.type = {abi::ElementType::I32, {}, true}, .scalar = 2}};
    const AlignedBytes bytes = buildProgram({function}, {});
    expectOk(tenon_program_create(device, bytes.span().data(), bytes.span().size(), "test", &program));
  }
  ~CApiReflectionTest() override { tenon_program_release(program); }
  tenon_program_t *program = nullptr;
};

TEST_F(CApiReflectionTest, FunctionsSayWhatTheyTakeAndGive) {
  tenon_function_info_t info = {.struct_size = sizeof(info)};
  expectOk(tenon_program_function_info(program, 0, &info));
  EXPECT_STREQ(info.name, "both");
  EXPECT_STREQ(info.documentation, "");
  EXPECT_EQ(info.input_count, 2u);
  EXPECT_EQ(info.result_count, 2u);
  EXPECT_FALSE(info.runs_on_host);
  EXPECT_FALSE(info.has_expectations);
  tenon_type_info_t type = {.struct_size = sizeof(type)};
  expectOk(tenon_program_input_info(program, 0, 0, &type));
  EXPECT_EQ(type.element, TENON_F32);
  EXPECT_FALSE(type.is_scalar);
  ASSERT_EQ(type.rank, 2u);
  EXPECT_EQ(type.shape[0], -1);
  EXPECT_EQ(type.shape[1], 4);
  EXPECT_STREQ(type.name, "");
  expectOk(tenon_program_result_info(program, 0, 1, &type));
  EXPECT_TRUE(type.is_scalar);
  EXPECT_EQ(type.element, TENON_I32);
  expectStatus(tenon_program_input_info(program, 0, 2, &type), TENON_OUT_OF_RANGE,
               "the function has 2 inputs, there is no input 2");
  expectStatus(tenon_program_result_info(program, 0, 2, &type), TENON_OUT_OF_RANGE, "there is no result 2");
  expectStatus(tenon_program_function_info(program, 1, &info), TENON_OUT_OF_RANGE, "there is no function 1");
  std::string text;
  expectOk(tenon_program_explain(
      program, [](void *user, const char *part) { *static_cast<std::string *>(user) += part; }, &text));
  EXPECT_EQ(text, "the program has no executables\n");
}

TEST_F(CApiReflectionTest, ResultsLendWhatTheyHold) {
  const int64_t shape[] = {4, 4};
  const tenon_value_t inputs[] = {tenon_value_tensor(buffer, TENON_F32, shape, 2), tenon_value_i32(-5)};
  tenon_results_t *results = nullptr;
  expectOk(tenon_program_call(program, 0, inputs, 2, &results));
  tenon_value_t value = {.struct_size = sizeof(value)};
  expectOk(tenon_results_at(results, 0, &value));
  EXPECT_EQ(tenon_buffer_address(value.buffer), tenon_buffer_address(buffer));
  EXPECT_EQ(value.shape[0], 4);
  tenon_buffer_t *kept = nullptr;
  expectOk(tenon_buffer_retain(value.buffer, &kept));
  expectOk(tenon_results_at(results, 1, &value));
  EXPECT_EQ(value.buffer, nullptr);
  EXPECT_EQ(value.scalar_bits, -5);
  expectStatus(tenon_results_at(results, 2, &value), TENON_OUT_OF_RANGE, "there are 2 results, no result 2");
  tenon_results_release(results);
  EXPECT_EQ(tenon_buffer_size(kept), 64u);
  tenon_buffer_release(kept);
}

// A program that copies its input into a result: memory of both is the caller's, given by address.
TEST_F(CApiTest, CallsTakeAndGiveAddresses) {
  FunctionSpec function;
  function.name = "copy";
  function.inputs = {{abi::ElementType::F32, {-1}, false}};
  function.registers = {{abi::fb::RegisterOpcode::Dim, 0, 0, 0, 0},
                        {abi::fb::RegisterOpcode::Const, 0, 0, 0, 4},
                        {abi::fb::RegisterOpcode::Mul, 0, 1, 0, 0}};
  function.buffers = {{abi::fb::BufferSource::Input, 0}, {abi::fb::BufferSource::Transient, 0, 2}};
  function.commands = {{.kind = CommandSpec::Copy, .ranges = {wholeBuffer(0), wholeBuffer(1)}}};
  function.results = {{.type = {abi::ElementType::F32, {-1}, false}, .buffer = 1, .shape = {0}}};
  const AlignedBytes bytes = buildProgram({function}, {});
  tenon_program_t *program = nullptr;
  expectOk(tenon_program_create(device, bytes.span().data(), bytes.span().size(), "test", &program));
  const float values[4] = {1, 2, 3, 4};
  tenon_buffer_t *target = nullptr;
  expectOk(tenon_buffer_write(buffer, 0, values, sizeof(values)));
  expectOk(tenon_buffer_allocate(device, 64, nullptr, &target));
  const int64_t shape[] = {4};
  tenon_value_t input = tenon_value_tensor(nullptr, TENON_F32, shape, 1);
  input.address = tenon_buffer_address(buffer), input.bytes = 16;
  struct Memory {
    uint64_t address;
    int asked;
  } memory = {tenon_buffer_address(target), 0};
  tenon_call_options_t options = {.struct_size = sizeof(options)};
  options.result_user = &memory;
  options.result_memory = [](void *user, size_t index, const tenon_value_t *type, uint64_t wanted) {
    EXPECT_EQ(index, 0u);
    EXPECT_EQ(type->element, TENON_F32);
    EXPECT_EQ(type->rank, 1u);
    EXPECT_EQ(type->shape[0], 4);
    EXPECT_EQ(wanted, 16u);
    ++static_cast<Memory *>(user)->asked;
    return static_cast<Memory *>(user)->address;
  };
  tenon_results_t *results = nullptr;
  for (int call = 1; call < 3; ++call) {
    expectOk(tenon_program_call_again(program, 0, &input, 1, &options, &results));
    EXPECT_EQ(memory.asked, call);
  }
  float seen[4] = {};
  expectOk(tenon_buffer_read(target, 0, seen, sizeof(seen)));
  EXPECT_EQ(seen[3], 4);
  // What the caller gives is checked, and none is an error.
  memory.address = input.address;
  expectStatus(tenon_program_call_again(program, 0, &input, 1, &options, &results), TENON_INVALID_ARGUMENT,
               "result 0: its buffer is memory of input 0");
  memory.address = 0;
  expectStatus(tenon_program_call_again(program, 0, &input, 1, &options, &results), TENON_RESOURCE_EXHAUSTED,
               "the caller gave no memory for result 0, tensor<4xf32> of 16 bytes");
  input.bytes = 12;
  tenon_results_t *none = nullptr;
  expectStatus(tenon_program_call(program, 0, &input, 1, &none), TENON_INVALID_ARGUMENT,
               "its buffer has 12 bytes, the tensor needs 16");
  tenon_results_release(results);
  tenon_buffer_release(target);
  tenon_program_release(program);
}

} // namespace tenon::test
