// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API against the fake driver: what queues do with files and pools, profiling, memory of other libraries.
#include "tests/unit/runtime/c_api_fixture.h"

#include <unistd.h>

namespace tenon::test {

TEST_F(CApiTest, ReadsAndWritesFiles) {
  std::vector<uint8_t> memory(64, 5);
  int released = 0;
  tenon_file_t *file = nullptr;
  expectOk(tenon_file_import_memory(
      memory.data(), memory.size(), TENON_ACCESS_READ | TENON_ACCESS_WRITE, nullptr,
      [](void *user) { ++*static_cast<int *>(user); }, &released, &file));
  EXPECT_EQ(tenon_file_size(file), 64u);
  const tenon_semaphore_point_t there = {semaphore, 1}, written = {semaphore, 2};
  tenon_submission_t reading = {.struct_size = sizeof(reading)}, writing = reading;
  reading.signals = writing.waits = &there, reading.signal_count = writing.wait_count = 1;
  writing.signals = &written, writing.signal_count = 1;
  const tenon_buffer_ref_t half = ref(0, 32);
  expectOk(tenon_queue_read_file(queue, &reading, file, 0, &half));
  memory[40] = 9; // the bytes that are written
  expectOk(tenon_queue_write_file(queue, &writing, &half, file, 32));
  expectOk(tenon_semaphores_wait_all(&written, 1, TENON_WAIT_FOREVER));
  EXPECT_EQ(memory, std::vector<uint8_t>(64, 5));
  const tenon_buffer_ref_t whole = ref();
  expectStatus(tenon_queue_read_file(queue, &reading, file, 1, &whole), TENON_OUT_OF_RANGE,
               "64 bytes from byte 1 of file 'memory'");
  tenon_file_release(file);
  EXPECT_EQ(released, 1);
  expectStatus(tenon_file_import_descriptor(-1, TENON_ACCESS_READ, "weights", &file), TENON_INVALID_ARGUMENT,
               "file 'weights': -1 is no open descriptor");
  EXPECT_EQ(file, nullptr);
}

TEST_F(CApiTest, AllocatesFromPools) {
  tenon_pool_options_t options = {.struct_size = sizeof(options)};
  options.kind = TENON_POOL_BLOCKS, options.block_bytes = 256, options.blocks_per_slab = 1, options.limit_bytes = 256;
  tenon_pool_t *pool = nullptr;
  expectOk(tenon_pool_create(device, &options, &pool));
  tenon_submission_t none = {.struct_size = sizeof(none)};
  tenon_allocation_t allocation = {.struct_size = sizeof(allocation)};
  allocation.bytes = 100, allocation.pool = pool;
  tenon_buffer_t *first = nullptr, *second = nullptr;
  expectOk(tenon_queue_allocate(queue, &none, &allocation, &first));
  expectStatus(tenon_queue_allocate(queue, &none, &allocation, &second), TENON_RESOURCE_EXHAUSTED,
               "pool 'pool': out of memory: 100 bytes");
  allocation.wait_for_memory = true;
  const tenon_semaphore_point_t there = {semaphore, 1};
  tenon_submission_t waiting = none;
  waiting.signals = &there, waiting.signal_count = 1;
  expectOk(tenon_queue_allocate(queue, &waiting, &allocation, &second));
  EXPECT_EQ(tenon_buffer_address(second), 0u);
  char byte = 0;
  expectStatus(tenon_buffer_write(second, 0, &byte, 1), TENON_FAILED_PRECONDITION, "memory is not there yet");
  expectStatus(tenon_buffer_read(second, 0, &byte, 1), TENON_FAILED_PRECONDITION, "memory is not there yet");
  expectOk(tenon_buffer_write(first, 0, &byte, 1));
  expectOk(tenon_queue_deallocate(queue, &none, first));
  expectStatus(tenon_buffer_write(first, 0, &byte, 1), TENON_FAILED_PRECONDITION, "the buffer was deallocated");
  expectStatus(tenon_buffer_read(first, 0, &byte, 1), TENON_FAILED_PRECONDITION, "the buffer was deallocated");
  expectOk(tenon_semaphores_wait_all(&there, 1, TENON_WAIT_FOREVER));
  EXPECT_EQ(tenon_buffer_address(second), tenon_buffer_address(first));
  tenon_pool_statistics_t statistics = {.struct_size = sizeof(statistics)};
  expectOk(tenon_pool_statistics(pool, &statistics));
  EXPECT_EQ(statistics.live, 1u);
  EXPECT_EQ(statistics.allocations, 2u);
  EXPECT_EQ(statistics.bytes_limit, 256u);
  tenon_buffer_release(first);
  tenon_buffer_release(second);
  expectOk(tenon_pool_trim(pool));
  tenon_pool_release(pool);
  allocation.pool = nullptr;
  expectStatus(tenon_queue_allocate(queue, &none, &allocation, &second), TENON_INVALID_ARGUMENT, "without a pool");
  allocation.wait_for_memory = false;
  expectOk(tenon_queue_allocate(queue, &none, &allocation, &second));
  expectOk(tenon_queue_deallocate(queue, &none, second));
  tenon_buffer_release(second);
  options.kind = static_cast<tenon_pool_kind_t>(9);
  expectStatus(tenon_pool_create(device, &options, &pool), TENON_INVALID_ARGUMENT, "unknown kind of pool 9");
  expectOk(tenon_device_set_memory_limit(device, 65));
  expectStatus(tenon_buffer_allocate(device, 100, nullptr, &second), TENON_RESOURCE_EXHAUSTED, "of the limit of 65");
  expectOk(tenon_queue_wait_idle(queue, TENON_WAIT_FOREVER));
}

TEST_F(CApiTest, ProfilesQueues) {
  struct Seen {
    std::vector<std::string> names;
    double last = 0;
  } seen;
  auto sink = [](void *user, const tenon_profile_event_t *event) {
    auto *all = static_cast<Seen *>(user);
    all->names.push_back(std::string(event->is_device ? "device " : "host ") + event->name);
    all->last = event->end_us;
  };
  expectOk(tenon_device_profile_begin(device, nullptr, sink, &seen));
  tenon_command_buffer_t *commands = nullptr;
  expectOk(tenon_command_buffer_create(device, nullptr, &commands));
  const tenon_buffer_ref_t whole = ref();
  expectOk(tenon_command_buffer_fill(commands, &whole, 1, 1));
  expectOk(tenon_command_buffer_end(commands));
  submitAndWait(commands, 1);
  expectOk(tenon_queue_wait_idle(queue, TENON_WAIT_FOREVER));
  EXPECT_EQ(seen.names, (std::vector<std::string>{"device fill", "host command buffer"}));
  EXPECT_GT(seen.last, 0);
  tenon_profile_options_t options = {.struct_size = sizeof(options)};
  options.no_host = true, options.kinds = 1u << TENON_PROFILE_DISPATCH;
  expectOk(tenon_device_profile_begin(device, &options, sink, &seen));
  submitAndWait(commands, 2);
  expectOk(tenon_queue_wait_idle(queue, TENON_WAIT_FOREVER));
  EXPECT_EQ(seen.names.size(), 2u);
  expectOk(tenon_device_profile_end(device));
  options.no_device = true;
  expectStatus(tenon_device_profile_begin(device, &options, sink, &seen), TENON_INVALID_ARGUMENT, "nothing pass");
  tenon_command_buffer_release(commands);
}

TEST_F(CApiTest, ExchangesMemory) {
  const int64_t shape[] = {4, 4};
  tenon_value_t value = {.struct_size = sizeof(value)};
  value.element = TENON_F32, value.buffer = buffer, value.shape = shape, value.rank = 2;
  struct DLManagedTensorVersioned *managed = nullptr;
  expectOk(tenon_dlpack_export(&value, &managed));
  tenon_results_t *results = nullptr;
  expectOk(tenon_dlpack_import(device, managed, &results));
  tenon_value_t back = {.struct_size = sizeof(back)};
  expectOk(tenon_results_value(results, 0, &back));
  EXPECT_EQ(tenon_buffer_address(back.buffer), tenon_buffer_address(buffer));
  EXPECT_EQ(back.rank, 2u);
  tenon_buffer_release(back.buffer);
  tenon_results_release(results);
  const int64_t large[] = {5, 4};
  value.shape = large;
  expectStatus(tenon_dlpack_export(&value, &managed), TENON_OUT_OF_RANGE, "tensor<5x4xf32> needs 80 bytes");
  uint64_t handle = 0;
  expectStatus(tenon_semaphore_export_timepoint(semaphore, 1, TENON_TIMEPOINT_CUDA_EVENT, &handle), TENON_UNIMPLEMENTED,
               "are not exported");
  expectStatus(tenon_semaphore_import_timepoint(semaphore, 1, TENON_TIMEPOINT_EVENT_FD, 0), TENON_UNIMPLEMENTED,
               "are not imported");
  tenon_buffer_t *shared = nullptr;
  int descriptor = 0;
  expectOk(tenon_buffer_allocate_shareable(device, 64, nullptr, &shared));
  expectOk(tenon_buffer_export_descriptor(shared, &descriptor));
  tenon_buffer_release(shared);
  expectOk(tenon_buffer_import_descriptor(device, descriptor, 64, nullptr, &shared));
  tenon_buffer_release(shared);
  EXPECT_EQ(fake.liveMappings, 0);
  close(descriptor);
}

} // namespace tenon::test
