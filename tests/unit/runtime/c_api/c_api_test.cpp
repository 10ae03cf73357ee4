// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API against the fake driver: what a binding in another language sees.
#include "tests/unit/runtime/c_api_fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <cstring>

namespace tenon::test {

TEST_F(CApiTest, StatusOwnsItsMessage) {
  tenon_status_t *status = tenon_status_create(TENON_NOT_FOUND, "no such thing");
  EXPECT_EQ(tenon_status_code(status), TENON_NOT_FOUND);
  EXPECT_STREQ(tenon_status_message(status), "no such thing");
  tenon_status_free(status);
  EXPECT_EQ(tenon_status_create(TENON_OK, "x"), nullptr);
  EXPECT_EQ(tenon_status_code(nullptr), TENON_OK);
  EXPECT_STREQ(tenon_status_message(nullptr), "");
  EXPECT_STREQ(tenon_status_code_name(TENON_DATA_LOSS), "data loss");
  EXPECT_STREQ(tenon_status_code_name(static_cast<tenon_status_code_t>(99)), "unknown code");
  EXPECT_STREQ(tenon_version(), TENON_VERSION);
}

TEST_F(CApiTest, EnumeratesDevices) {
  size_t count = 0;
  expectOk(tenon_driver_device_count(driver, &count));
  EXPECT_EQ(count, 1u);
  tenon_device_info_t info = {.struct_size = sizeof(info)};
  expectOk(tenon_driver_device_info(driver, 0, &info));
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_EQ(info.compute_capability, 80u);
  EXPECT_EQ(info.uuid[15], 0xa0);
  expectStatus(tenon_driver_device_info(driver, 1, &info), TENON_UNAVAILABLE, "no device 1");
  tenon_device_t *byUuid = nullptr;
  expectOk(tenon_device_open_uuid(driver, "GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0", &byUuid));
  tenon_device_info_t same = {.struct_size = sizeof(same)};
  expectOk(tenon_device_info(byUuid, &same));
  EXPECT_STREQ(same.name, info.name);
  EXPECT_EQ(same.memory_bytes, info.memory_bytes);
  EXPECT_EQ(same.uuid[15], 0xa0);
  expectStatus(tenon_device_info(nullptr, &same), TENON_INVALID_ARGUMENT, "argument 'device' is NULL");
  tenon_device_release(byUuid);
  expectStatus(tenon_device_open_uuid(driver, "GPU-00000000000000000000000000000000", &byUuid), TENON_NOT_FOUND,
               "no device has the uuid");
  expectStatus(tenon_device_open_uuid(driver, "cuda", &byUuid), TENON_INVALID_ARGUMENT, "is no uuid");
  tenon_driver_t *none = nullptr;
  expectStatus(tenon_driver_open("vulkan", &none), TENON_INVALID_ARGUMENT, "unknown device 'vulkan'");
  EXPECT_EQ(none, nullptr);
}

TEST_F(CApiTest, StructsOfOtherAgesWork) {
  // An older caller: only struct_size and memory.
  struct {
    size_t struct_size;
    tenon_memory_t memory;
  } older = {sizeof(older), TENON_HOST_VISIBLE};
  tenon_buffer_t *mapped = nullptr;
  expectOk(tenon_buffer_allocate(device, 8, reinterpret_cast<tenon_buffer_options_t *>(&older), &mapped));
  void *host = nullptr;
  expectOk(tenon_buffer_map(mapped, 0, TENON_WHOLE_BUFFER, TENON_ACCESS_WRITE, &host));
  std::memset(host, 1, 8);
  tenon_buffer_release(mapped);
  // A newer caller: fine while it sets nothing new.
  struct {
    tenon_buffer_options_t options;
    uint64_t future;
  } newer = {{.struct_size = sizeof(newer)}, 0};
  expectOk(tenon_buffer_allocate(device, 8, &newer.options, &mapped));
  tenon_buffer_release(mapped);
  newer.future = 1;
  expectStatus(tenon_buffer_allocate(device, 8, &newer.options, &mapped), TENON_UNIMPLEMENTED, "does not know");
  newer.options.struct_size = 0;
  expectStatus(tenon_buffer_allocate(device, 8, &newer.options, &mapped), TENON_INVALID_ARGUMENT, "struct_size 0");
}

TEST_F(CApiTest, NullArgumentsAreErrors) {
  tenon_buffer_t *out = nullptr;
  expectStatus(tenon_buffer_allocate(nullptr, 8, nullptr, &out), TENON_INVALID_ARGUMENT, "argument 'device' is NULL");
  expectStatus(tenon_buffer_allocate(device, 8, nullptr, nullptr), TENON_INVALID_ARGUMENT, "argument 'out' is NULL");
  expectStatus(tenon_queue_submit(queue, nullptr), TENON_INVALID_ARGUMENT, "argument 'submission' is NULL");
  expectStatus(tenon_semaphores_wait_all(nullptr, 1, 0), TENON_INVALID_ARGUMENT, "argument 'points' is NULL");
  const tenon_semaphore_point_t none = {};
  expectStatus(tenon_semaphores_wait_any(&none, 1, 0), TENON_INVALID_ARGUMENT, "semaphore 0 of 'points' is NULL");
  tenon_buffer_release(nullptr);
  tenon_program_release(nullptr);
}

// Where things stand in the kernel is told; a dispatch passes them by number all the same.
TEST_F(CApiTest, TellsTheOrderOfParameters) {
  std::vector<abi::Export> exports = {makeExport("ordered", 2, 2)};
  exports[0].layout.bindings[0].name = "from";
  exports[0].layout.constants[1].name = "count";
  exports[0].layout.parameters = {
      abi::DeclaredParameter::constant(1),
      abi::DeclaredParameter::structOf(24, 8,
                                       {{abi::ParameterKind::Binding, 1, 0}, {abi::ParameterKind::Binding, 0, 16}}),
      abi::DeclaredParameter::structOf(2, 2), abi::DeclaredParameter::hidden(), abi::DeclaredParameter::constant(0)};
  const std::vector<uint8_t> bytes = buildExecutable("exe", exports, {{.name = "v", .image = "ptx"}});
  tenon_executable_t *executable = nullptr;
  expectOk(tenon_executable_create(device, bytes.data(), bytes.size(), "test", &executable));
  tenon_export_info_t info = {.struct_size = sizeof(info)};
  expectOk(tenon_executable_export_info(executable, 0, &info));
  EXPECT_EQ(info.parameter_count, 5u);
  EXPECT_EQ(info.slot_count, 5u);
  std::string found;
  tenon_slot_info_t slot = {.struct_size = sizeof(slot)};
  for (uint32_t i = 0; i < info.slot_count; ++i) {
    expectOk(tenon_executable_slot_info(executable, 0, i, &slot));
    found += concat(int(slot.kind), ' ', slot.index, " '", slot.name, "' ", slot.parameter, '+', slot.offset, ' ',
                    slot.size, "; ");
  }
  EXPECT_EQ(found, "1 1 'count' 0+0 4; 0 1 '' 1+0 8; 0 0 'from' 1+16 8; 2 0 '' 3+0 8; 1 0 '' 4+0 4; ");
  expectStatus(tenon_executable_slot_info(executable, 0, 5, &slot), TENON_OUT_OF_RANGE,
               "export 'ordered' has 5 slots, there is no slot 5");
  expectStatus(tenon_executable_slot_info(executable, 1, 0, &slot), TENON_OUT_OF_RANGE, "there is no export 1");
  expectStatus(tenon_executable_slot_info(nullptr, 0, 0, &slot), TENON_INVALID_ARGUMENT, "'executable' is NULL");
  expectStatus(tenon_executable_slot_info(executable, 0, 0, nullptr), TENON_INVALID_ARGUMENT, "'out' is NULL");

  struct Places {
    uint64_t to, unused, from;
  };
  fake.parameters["ordered"] = {{0, 4}, {8, 24}, {32, 2}, {40, 8}, {48, 4}};
  std::vector<uint64_t> seen;
  fake.kernels["ordered"] = [&](const FakeLaunch &launch) {
    const Places places = launch.parameter<Places>(1);
    seen = {launch.parameter<uint32_t>(0),
            places.to,
            places.unused,
            places.from,
            launch.parameter<uint16_t>(2),
            launch.parameter<uint64_t>(3),
            launch.parameter<uint32_t>(4)};
  };
  tenon_command_buffer_t *commands = nullptr;
  expectOk(tenon_command_buffer_create(device, nullptr, &commands));
  const tenon_buffer_ref_t bindings[] = {ref(0, 4), ref(32, 4)};
  const uint64_t constants[] = {7, 8};
  tenon_dispatch_t dispatch = {.struct_size = sizeof(dispatch)};
  dispatch.executable = executable;
  dispatch.grid[0] = dispatch.grid[1] = dispatch.grid[2] = 1;
  dispatch.bindings = bindings, dispatch.binding_count = 2;
  dispatch.constants = constants, dispatch.constant_count = 2;
  expectOk(tenon_command_buffer_dispatch(commands, &dispatch));
  expectOk(tenon_command_buffer_end(commands));
  submitAndWait(commands, 1);
  const uint64_t address = tenon_buffer_address(buffer);
  EXPECT_EQ(seen, (std::vector<uint64_t>{8, address + 32, 0, address, 0, 0, 7}));
  tenon_command_buffer_release(commands);
  tenon_executable_release(executable);
}

TEST_F(CApiTest, RecordsSubmitsAndReads) {
  std::vector<abi::Export> exports = {makeExport("add", 2, 1)};
  const std::vector<uint8_t> bytes = buildExecutable("exe", exports, {{.name = "v", .image = "ptx"}});
  tenon_executable_t *executable = nullptr;
  expectOk(tenon_executable_create(device, bytes.data(), bytes.size(), "test", &executable));
  uint32_t ordinal = 9;
  expectOk(tenon_executable_find_export(executable, "add", &ordinal));
  EXPECT_EQ(ordinal, 0u);
  tenon_export_info_t info = {.struct_size = sizeof(info)};
  expectOk(tenon_executable_export_info(executable, 0, &info));
  EXPECT_STREQ(info.name, "add");
  EXPECT_EQ(info.binding_count, 2u);
  EXPECT_EQ(info.workgroup_size[0], 64u);
  EXPECT_EQ(tenon_executable_export_count(executable), 1u);
  expectStatus(tenon_executable_find_export(executable, "sub", &ordinal), TENON_NOT_FOUND, "'sub'");

  fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 4}};
  fake.kernels["add"] = [](const FakeLaunch &launch) {
    *reinterpret_cast<uint32_t *>(launch.parameter<uint64_t>(1)) += launch.parameter<uint32_t>(2);
  };
  tenon_command_buffer_t *commands = nullptr;
  expectOk(tenon_command_buffer_create(device, nullptr, &commands));
  const tenon_buffer_ref_t whole = ref(), head = ref(0, 4), tail = ref(32, 4);
  const tenon_buffer_ref_t bindings[] = {tail, whole};
  const uint64_t constant = 5;
  tenon_dispatch_t dispatch = {.struct_size = sizeof(dispatch)};
  dispatch.executable = executable;
  dispatch.grid[0] = dispatch.grid[1] = dispatch.grid[2] = 1;
  dispatch.bindings = bindings, dispatch.binding_count = 2;
  dispatch.constants = &constant, dispatch.constant_count = 1;
  expectOk(tenon_command_buffer_fill(commands, &whole, 0, 4));
  expectOk(tenon_command_buffer_barrier(commands));
  expectOk(tenon_command_buffer_dispatch(commands, &dispatch));
  tenon_event_t *event = nullptr;
  expectOk(tenon_event_create(&event));
  expectOk(tenon_command_buffer_signal_event(commands, event));
  expectOk(tenon_command_buffer_wait_event(commands, event));
  expectOk(tenon_command_buffer_copy(commands, &head, &tail));
  expectOk(tenon_command_buffer_end(commands));
  submitAndWait(commands, 1);
  uint32_t word = 0;
  expectOk(tenon_buffer_read(buffer, 32, &word, sizeof(word)));
  EXPECT_EQ(word, 5u);
  tenon_event_release(event);
  tenon_command_buffer_release(commands);
  tenon_executable_release(executable);
}

TEST_F(CApiTest, HostCallsAndFailuresCarryTheirStatus) {
  const tenon_semaphore_point_t signal = {semaphore, 1};
  tenon_submission_t submission = {.struct_size = sizeof(submission)};
  submission.signals = &signal, submission.signal_count = 1;
  expectOk(tenon_queue_host_call(
      queue, &submission, [](void *) { return tenon_status_create(TENON_DATA_LOSS, "broken file"); }, nullptr));
  expectStatus(tenon_semaphores_wait_any(&signal, 1, TENON_WAIT_FOREVER), TENON_DATA_LOSS, "broken file");
  uint64_t value = 7;
  expectStatus(tenon_semaphore_query(semaphore, &value), TENON_DATA_LOSS, "broken file");
  EXPECT_EQ(value, 0u);
  tenon_semaphore_t *other = nullptr;
  expectOk(tenon_semaphore_create(1, &other));
  expectStatus(tenon_semaphore_signal(other, 1), TENON_INVALID_ARGUMENT, "only grows");
  tenon_semaphore_fail(other, tenon_status_create(TENON_ABORTED, "mine"));
  expectStatus(tenon_semaphore_signal(other, 2), TENON_ABORTED, "mine");
  tenon_semaphore_release(other);
  expectOk(tenon_queue_wait_idle(queue, TENON_WAIT_FOREVER));
}

TEST_F(CApiTest, SaysWhichExpectationFailed) {
  FunctionSpec function = {.name = "f"};
  function.inputs = {{abi::ElementType::I32, {}, true}};
  function.registers = {{abi::fb::RegisterOpcode::Arg, 0, 0, 0, 0}};
  function.expectations = {{.kind = abi::fb::ExpectationKind::NonZero,
                            .found = {{abi::ElementType::I32, {}, true}, 0, {}, 0},
                            .wanted = {},
                            .location = "f.mlir:3:5"}};
  const AlignedBytes bytes = buildProgram({function}, {});
  tenon_program_t *program = nullptr;
  expectOk(tenon_program_create(device, bytes.span().data(), bytes.span().size(), "test", &program));
  tenon_value_t input = {.struct_size = sizeof(input)};
  input.element = TENON_I32;
  tenon_results_t *results = nullptr;
  expectStatus(tenon_program_call(program, 0, &input, 1, &results), TENON_FAILED_PRECONDITION,
               "f.mlir:3:5: check.expect: 1 of 1 element is zero");
  EXPECT_EQ(results, nullptr);
  input.scalar_bits = 1;
  expectOk(tenon_program_call(program, 0, &input, 1, &results));
  EXPECT_EQ(tenon_results_count(results), 0u);
  tenon_results_release(results);
  tenon_program_release(program);
}

TEST_F(CApiTest, CallsPrograms) {
  FunctionSpec function = {.name = "identity"};
  function.inputs = {{abi::ElementType::F32, {-1}}, {abi::ElementType::I32, {}, true}};
  function.registers = {{abi::fb::RegisterOpcode::Dim, 0, 0, 0, 0}, {abi::fb::RegisterOpcode::Arg, 1, 0, 0, 0}};
  function.buffers = {{abi::fb::BufferSource::Input, 0}};
  function.results = {{{abi::ElementType::F32, {-1}}, 0, {0}}, {{abi::ElementType::I32, {}, true}, 0, {}, 1}};
  const AlignedBytes bytes = buildProgram({function}, {});
  tenon_program_t *program = nullptr;
  expectOk(tenon_program_create(device, bytes.span().data(), bytes.span().size(), "test", &program));
  EXPECT_EQ(tenon_program_function_count(program), 1u);
  EXPECT_STREQ(tenon_program_function_name(program, 0), "identity");
  EXPECT_EQ(tenon_program_function_name(program, 1), nullptr);
  uint32_t index = 9;
  expectOk(tenon_program_find_function(program, nullptr, &index));
  EXPECT_EQ(index, 0u);
  const int64_t shape[] = {16};
  tenon_value_t inputs[2] = {{.struct_size = sizeof(tenon_value_t)}, {.struct_size = sizeof(tenon_value_t)}};
  inputs[0].element = TENON_F32, inputs[0].buffer = buffer, inputs[0].shape = shape, inputs[0].rank = 1;
  inputs[1].element = TENON_I32, inputs[1].scalar_bits = -3;
  tenon_results_t *results = nullptr;
  expectOk(tenon_program_call(program, 0, inputs, 2, &results));
  EXPECT_EQ(tenon_results_count(results), 2u);
  tenon_value_t value = {.struct_size = sizeof(value)};
  expectOk(tenon_results_value(results, 0, &value));
  EXPECT_EQ(value.shape[0], 16);
  EXPECT_EQ(tenon_buffer_address(value.buffer), tenon_buffer_address(buffer));
  tenon_value_t cut = {.struct_size = offsetof(tenon_value_t, buffer)}; // no room for a handle: none is given
  expectOk(tenon_results_value(results, 0, &cut));
  EXPECT_EQ(cut.element, TENON_F32);
  EXPECT_EQ(cut.buffer, nullptr);
  tenon_buffer_release(value.buffer);
  expectOk(tenon_results_value(results, 1, &value));
  EXPECT_EQ(value.scalar_bits, -3);
  expectStatus(tenon_results_value(results, 2, &value), TENON_OUT_OF_RANGE, "no result 2");
  tenon_results_release(results);
  expectStatus(tenon_program_call(program, 0, inputs, 1, &results), TENON_INVALID_ARGUMENT, "1 input given");
  EXPECT_EQ(results, nullptr);

  // Again and again with the same results, on a stream, and between semaphores.
  tenon_call_options_t options = {.struct_size = sizeof(options)};
  options.on_stream = true;
  expectOk(tenon_program_call_again(program, 0, inputs, 2, &options, &results));
  tenon_results_t *const first = results;
  inputs[1].scalar_bits = 5;
  expectOk(tenon_program_call_again(program, 0, inputs, 2, nullptr, &results));
  EXPECT_EQ(results, first);
  expectOk(tenon_results_value(results, 1, &value));
  EXPECT_EQ(value.scalar_bits, 5);
  expectStatus(tenon_program_call_again(program, 0, inputs, 1, nullptr, &results), TENON_INVALID_ARGUMENT, "1 input");
  EXPECT_EQ(results, first);
  options.on_stream = false, options.stream = &options;
  expectStatus(tenon_program_call_again(program, 0, inputs, 2, &options, &results), TENON_INVALID_ARGUMENT,
               "on_stream is not set");
  tenon_semaphore_t *done = nullptr;
  expectOk(tenon_semaphore_create(0, &done));
  const tenon_semaphore_point_t point = {done, 1};
  tenon_submission_t between = {.struct_size = sizeof(between)};
  between.signals = &point, between.signal_count = 1;
  inputs[1].scalar_bits = 6;
  expectOk(tenon_program_submit(program, queue, &between, 0, inputs, 2, &results));
  expectOk(tenon_semaphores_wait_all(&point, 1, TENON_WAIT_FOREVER));
  expectOk(tenon_results_value(results, 1, &value));
  EXPECT_EQ(value.scalar_bits, 6);
  tenon_semaphore_release(done);
  tenon_results_release(results);
  tenon_program_release(program);
  expectStatus(tenon_program_create(device, "junk", 4, "junk", &program), TENON_DATA_LOSS, "junk");
  EXPECT_EQ(program, nullptr);
}

TEST_F(CApiTest, TracesWhatWasBegun) {
  const std::string path = testing::TempDir() + "tenon_c_api_trace.json";
  expectStatus(tenon_device_trace_write(device, path.c_str()), TENON_FAILED_PRECONDITION, "records nothing");
  expectOk(tenon_device_trace_begin(device));
  expectOk(tenon_device_trace_write(device, path.c_str()));
  expectOk(tenon_device_trace_end(device));
  expectStatus(tenon_device_trace_write(device, path.c_str()), TENON_FAILED_PRECONDITION, "records nothing");
  expectStatus(tenon_device_trace_end(nullptr), TENON_INVALID_ARGUMENT, "device");
  std::remove(path.c_str());
}

TEST_F(CApiTest, ImagesAreRuledOut) {
  const auto executableBytes = buildExecutable("exe", {makeExport("add", 1, 0)}, {{.name = "v", .image = "ptx"}});
  const AlignedBytes bytes = buildProgram({{.name = "f"}}, {executableBytes});
  tenon_image_options_t options = {.struct_size = sizeof(options)};
  tenon_program_t *program = nullptr;
  options.variant = "other";
  expectStatus(
      tenon_program_create_with_options(device, bytes.span().data(), bytes.span().size(), "p", &options, &program),
      TENON_NOT_FOUND, "no executable of 'p' has a variant 'other'");
  tenon_executable_t *executable = nullptr;
  options = {.struct_size = sizeof(options), .images = static_cast<tenon_images_t>(3 + 1)};
  expectStatus(tenon_executable_create_with_options(device, executableBytes.data(), executableBytes.size(), "e",
                                                    &options, &executable),
               TENON_INVALID_ARGUMENT, "unknown images 4");
  setenv("TENON_IMAGES", "sass", 1);
  expectStatus(tenon_executable_create(device, executableBytes.data(), executableBytes.size(), "e", &executable),
               TENON_INVALID_ARGUMENT, "TENON_IMAGES=sass");
  unsetenv("TENON_IMAGES");
  options.images = TENON_IMAGES_CUBIN;
  expectOk(tenon_executable_create_with_options(device, executableBytes.data(), executableBytes.size(), "e", &options,
                                                &executable));
  tenon_executable_release(executable);
}

} // namespace tenon::test
