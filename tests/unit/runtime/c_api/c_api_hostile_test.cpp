// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes, numbers and addresses that no caller means: each is an error, before anything is read or allocated by it.
#include "tests/unit/runtime/c_api_fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <cstring>

namespace tenon::test {

/// Any number in an enum, as a caller in C may pass it. A cast: what lies in memory as one of C++ may only be one of
/// its enumerators.
template <typename Enum> static Enum numbered(uint32_t number) {
  return static_cast<Enum>(number);
}

TEST_F(CApiTest, RefusesNumbersThatNoEnumHas) {
  EXPECT_STREQ(tenon_status_code_name(numbered<tenon_status_code_t>(12)), "unknown code");
  EXPECT_STREQ(tenon_status_code_name(numbered<tenon_status_code_t>(~0u)), "unknown code");
  tenon_status_t *made = tenon_status_create(numbered<tenon_status_code_t>(1000), "why");
  EXPECT_EQ(tenon_status_code(made), TENON_INTERNAL);
  tenon_status_free(made);

  tenon_buffer_t *none = nullptr;
  tenon_buffer_options_t memory = {.struct_size = sizeof(memory), .memory = numbered<tenon_memory_t>(~0u)};
  expectStatus(tenon_buffer_allocate(device, 8, &memory, &none), TENON_INVALID_ARGUMENT,
               "unknown memory type 4294967295");
  memory = {.struct_size = sizeof(memory), .usage = 64};
  expectStatus(tenon_buffer_allocate(device, 8, &memory, &none), TENON_INVALID_ARGUMENT, "a buffer's usage is 64");
  tenon_command_buffer_options_t recording = {.struct_size = sizeof(recording)};
  recording.mode = numbered<tenon_commands_mode_t>(77);
  tenon_command_buffer_t *commands = nullptr;
  expectStatus(tenon_command_buffer_create(device, &recording, &commands), TENON_INVALID_ARGUMENT,
               "unknown command buffer mode 77");
  uint64_t handle = 0;
  expectStatus(tenon_semaphore_export_timepoint(semaphore, 1, numbered<tenon_timepoint_kind_t>(256), &handle),
               TENON_INVALID_ARGUMENT, "unknown kind of timepoint 256");
  expectStatus(tenon_semaphore_import_timepoint(semaphore, 1, numbered<tenon_timepoint_kind_t>(3), 0),
               TENON_INVALID_ARGUMENT, "unknown kind of timepoint 3");
}

TEST_F(CApiTest, AnyByteButZeroIsTrue) {
  tenon_command_buffer_options_t options = {.struct_size = sizeof(options)};
  std::memset(&options.one_shot, 2, 1);
  tenon_command_buffer_t *commands = nullptr;
  expectOk(tenon_command_buffer_create(device, &options, &commands));
  expectOk(tenon_command_buffer_end(commands));
  submitAndWait(commands, 1);
  const tenon_semaphore_point_t signal = {semaphore, 2};
  tenon_submission_t again = {.struct_size = sizeof(again)};
  again.signals = &signal, again.signal_count = 1, again.commands = commands;
  expectStatus(tenon_queue_submit(queue, &again), TENON_FAILED_PRECONDITION, "one-shot");
  tenon_command_buffer_release(commands);
}

TEST_F(CApiTest, RefusesCountsThatWereNeverSet) {
  const tenon_semaphore_point_t point = {semaphore, 0};
  expectStatus(tenon_semaphores_wait_all(&point, SIZE_MAX, 0), TENON_OUT_OF_RANGE,
               "'points' has 18446744073709551615 elements, at most 65536 are read");
  tenon_submission_t submission = {.struct_size = sizeof(submission)};
  submission.signals = &point, submission.signal_count = 1 << 20;
  expectStatus(tenon_queue_submit(queue, &submission), TENON_OUT_OF_RANGE, "'signals' has 1048576 elements");
  submission = {.struct_size = sizeof(submission)};
  submission.binding_count = SIZE_MAX;
  expectStatus(tenon_queue_submit(queue, &submission), TENON_OUT_OF_RANGE, "'bindings' has");
  tenon_profile_options_t profile = {.struct_size = sizeof(profile)};
  const char *const name = "add";
  profile.exports = &name, profile.export_count = SIZE_MAX;
  const tenon_profile_fn sink = [](void *, const tenon_profile_event_t *) {};
  expectStatus(tenon_device_profile_begin(device, &profile, sink, nullptr), TENON_OUT_OF_RANGE, "'exports' has");

  const std::vector<uint8_t> bytes = buildExecutable("exe", {makeExport("add", 2, 1)}, {{.name = "v", .image = "ptx"}});
  tenon_executable_t *executable = nullptr;
  expectOk(tenon_executable_create(device, bytes.data(), bytes.size(), "test", &executable));
  tenon_command_buffer_t *commands = nullptr;
  expectOk(tenon_command_buffer_create(device, nullptr, &commands));
  const tenon_buffer_ref_t whole = ref();
  tenon_dispatch_t dispatch = {.struct_size = sizeof(dispatch), .executable = executable};
  dispatch.bindings = &whole, dispatch.binding_count = SIZE_MAX / sizeof(whole);
  expectStatus(tenon_command_buffer_dispatch(commands, &dispatch), TENON_OUT_OF_RANGE, "'bindings' has");
  dispatch.binding_count = 0, dispatch.constant_count = 3;
  expectStatus(tenon_command_buffer_dispatch(commands, &dispatch), TENON_INVALID_ARGUMENT,
               "argument 'constants' is NULL");
  const uint64_t word = 0;
  dispatch.constants = &word, dispatch.constant_count = SIZE_MAX;
  expectStatus(tenon_command_buffer_dispatch(commands, &dispatch), TENON_OUT_OF_RANGE, "'constants' has");
  tenon_command_buffer_release(commands);
  tenon_executable_release(executable);
  expectStatus(tenon_executable_create(device, bytes.data(), SIZE_MAX, "test", &executable), TENON_RESOURCE_EXHAUSTED,
               "not enough memory for the copy of 'test'");
  tenon_program_t *program = nullptr;
  expectStatus(tenon_program_create(device, bytes.data(), SIZE_MAX, "test", &program), TENON_RESOURCE_EXHAUSTED,
               "not enough memory for the program's copy");
}

TEST_F(CApiTest, RefusesRanksAndInputsBeforeItReadsThem) {
  FunctionSpec function = {.name = "identity"};
  function.inputs = {{abi::ElementType::F32, {-1}}};
  function.registers = {{abi::fb::RegisterOpcode::Dim, 0, 0, 0, 0}};
  function.buffers = {{abi::fb::BufferSource::Input, 0}};
  function.results = {{{abi::ElementType::F32, {-1}}, 0, {0}}};
  const AlignedBytes bytes = buildProgram({function}, {});
  tenon_program_t *program = nullptr;
  expectOk(tenon_program_create(device, bytes.span().data(), bytes.span().size(), "test", &program));
  const int64_t shape[] = {16};
  tenon_value_t input = {.struct_size = sizeof(input), .element = TENON_F32, .buffer = buffer, .shape = shape};
  tenon_results_t *results = nullptr;
  for (size_t rank : {size_t(65), size_t(1) << 40, SIZE_MAX}) {
    input.rank = rank;
    expectStatus(tenon_program_call(program, 0, &input, 1, &results), TENON_OUT_OF_RANGE,
                 "a tensor has rank " + std::to_string(rank) + ", at most 64 is possible");
    DLManagedTensorVersioned *exported = nullptr;
    expectStatus(tenon_dlpack_export(&input, &exported), TENON_OUT_OF_RANGE, "a tensor has rank");
  }
  input.rank = 1;
  expectStatus(tenon_program_call(program, 0, &input, SIZE_MAX, &results), TENON_INVALID_ARGUMENT,
               "18446744073709551615 inputs given, function 'identity' takes 1");
  expectStatus(tenon_program_call(program, 1, &input, 1, &results), TENON_OUT_OF_RANGE,
               "the program has 1 functions, there is no function 1");
  expectStatus(tenon_program_call_again(program, ~0u, &input, 1, nullptr, &results), TENON_OUT_OF_RANGE,
               "there is no function 4294967295");
  input.element = numbered<tenon_element_type_t>(4711);
  expectStatus(tenon_program_call(program, 0, &input, 1, &results), TENON_INVALID_ARGUMENT,
               "unknown element type 4711");
  EXPECT_EQ(results, nullptr);
  tenon_program_release(program);

  // Beside an extent of 0, the others may be any.
  const int64_t empty[] = {0, INT64_MAX, INT64_MAX};
  input.element = TENON_F32, input.shape = empty, input.rank = 3;
  DLManagedTensorVersioned *exported = nullptr;
  expectOk(tenon_dlpack_export(&input, &exported));
  tenon_results_t *imported = nullptr;
  expectOk(tenon_dlpack_import(device, exported, &imported));
  tenon_results_release(imported);
}

TEST_F(CApiTest, RefusesMemoryThatEndsBehindTheLastAddress) {
  tenon_buffer_t *none = nullptr;
  expectStatus(
      tenon_buffer_import_device(device, tenon_buffer_address(buffer), UINT64_MAX, nullptr, nullptr, nullptr, &none),
      TENON_INVALID_ARGUMENT, "device memory to import: 18446744073709551615 bytes from address ");
  char host[64];
  expectStatus(tenon_buffer_import_host(device, host, UINT64_MAX, nullptr, nullptr, nullptr, &none),
               TENON_INVALID_ARGUMENT, "on end behind the last address");
  tenon_file_t *file = nullptr;
  expectStatus(tenon_file_import_memory(host, UINT64_MAX, TENON_ACCESS_READ, "f", nullptr, nullptr, &file),
               TENON_INVALID_ARGUMENT, "file 'f': 18446744073709551615 bytes from address ");
  expectStatus(tenon_buffer_allocate_shareable(device, UINT64_MAX, nullptr, &none), TENON_RESOURCE_EXHAUSTED,
               "18446744073709551615 bytes were asked for");
}

TEST_F(CApiTest, RefusesToImportNothing) {
  tenon_buffer_t *none = nullptr;
  expectStatus(tenon_buffer_import_device(device, 0, 16, nullptr, nullptr, nullptr, &none), TENON_INVALID_ARGUMENT,
               "a null address was given for 16 bytes to import");
  expectStatus(tenon_buffer_import_host(device, nullptr, 16, nullptr, nullptr, nullptr, &none), TENON_INVALID_ARGUMENT,
               "host memory to import: 16 bytes at a null address");
  char host[16];
  expectStatus(tenon_buffer_import_host(device, host, 0, nullptr, nullptr, nullptr, &none), TENON_INVALID_ARGUMENT,
               "host memory to import: 0 bytes at an address");
}

TEST_F(CApiTest, ALimitOfZeroIsNone) {
  tenon_pool_options_t options = {.struct_size = sizeof(options), .kind = TENON_POOL_BLOCKS};
  options.block_bytes = UINT64_MAX;
  tenon_pool_t *pool = nullptr;
  expectStatus(tenon_pool_create(device, &options, &pool), TENON_INVALID_ARGUMENT,
               "pool 'pool': 16 blocks of 18446744073709551615 bytes in a slab: at most 1048576 blocks of "
               "4398046511104 are possible");
  options.block_bytes = 256, options.blocks_per_slab = UINT64_MAX;
  expectStatus(tenon_pool_create(device, &options, &pool), TENON_INVALID_ARGUMENT, "at most 1048576 blocks");
  options.blocks_per_slab = 2, options.limit_bytes = 0;
  expectOk(tenon_pool_create(device, &options, &pool));
  tenon_pool_statistics_t statistics = {.struct_size = sizeof(statistics)};
  expectOk(tenon_pool_statistics(pool, &statistics));
  EXPECT_EQ(statistics.bytes_limit, 0u);
  tenon_pool_release(pool);
  options.limit_bytes = 1;
  expectStatus(tenon_pool_create(device, &options, &pool), TENON_INVALID_ARGUMENT,
               "the limit of 1 bytes is below one slab: 2 blocks of 256 bytes");
  expectOk(tenon_device_set_memory_limit(device, 1));
  tenon_buffer_t *second = nullptr;
  expectStatus(tenon_buffer_allocate(device, 64, nullptr, &second), TENON_RESOURCE_EXHAUSTED,
               "of the limit of 1 bytes");
  expectOk(tenon_device_set_memory_limit(device, 0));
  expectOk(tenon_buffer_allocate(device, 64, nullptr, &second));
  tenon_buffer_release(second);
}

TEST_F(CApiTest, RefusesStructSizesThatAreNone) {
  tenon_buffer_options_t options = {};
  tenon_buffer_t *none = nullptr;
  for (size_t size : {size_t(0), size_t(7), size_t(12), size_t(4097), SIZE_MAX}) {
    options.struct_size = size;
    expectStatus(tenon_buffer_allocate(device, 8, &options, &none), TENON_INVALID_ARGUMENT,
                 "'options' has struct_size " + std::to_string(size) + ", expected sizeof, 24");
    tenon_statistics_t statistics = {.struct_size = size};
    expectStatus(tenon_device_statistics(device, &statistics), TENON_INVALID_ARGUMENT, "'out' has struct_size");
  }
}

} // namespace tenon::test
