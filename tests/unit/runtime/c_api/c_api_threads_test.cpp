// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "Functions may be called from any thread" (runtime.h): one device, executable, program, queue and pool, used by
// several threads at once. What the library shares without a lock is seen under the thread sanitizer (./dev test
// threads).
#include "tests/unit/runtime/c_api_fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <atomic>
#include <cstdio>
#include <thread>

namespace tenon::test {

class CApiThreadsTest : public CApiTest {
protected:
  static constexpr unsigned kThreads = 4, kRounds = 12;

  CApiThreadsTest() {
    executableBytes = buildExecutable("exe", {makeExport("add", 2, 1)}, {{.name = "v", .image = "ptx"}});
    fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 4}};
    fake.kernels["add"] = [](const FakeLaunch &launch) {
      *reinterpret_cast<uint32_t *>(launch.parameter<uint64_t>(1)) +=
          *reinterpret_cast<uint32_t *>(launch.parameter<uint64_t>(0)) + launch.parameter<uint32_t>(2);
    };
    expectOk(tenon_executable_create(device, executableBytes.data(), executableBytes.size(), "test", &executable));
    expectOk(tenon_program_create(device, programBytes.span().data(), programBytes.span().size(), "test", &program));
    tenon_pool_options_t options = {.struct_size = sizeof(options)};
    options.kind = TENON_POOL_BLOCKS, options.block_bytes = 256, options.blocks_per_slab = 2;
    expectOk(tenon_pool_create(device, &options, &pool));
  }
  ~CApiThreadsTest() override {
    expectOk(tenon_queue_wait_idle(queue, TENON_WAIT_FOREVER));
    tenon_pool_release(pool);
    tenon_program_release(program);
    tenon_executable_release(executable);
  }

  static AlignedBytes identity() {
    FunctionSpec function = {.name = "identity"};
    function.inputs = {{abi::ElementType::F32, {-1}}, {abi::ElementType::I32, {}, true}};
    function.registers = {{abi::fb::RegisterOpcode::Dim, 0, 0, 0, 0}, {abi::fb::RegisterOpcode::Arg, 1, 0, 0, 0}};
    function.buffers = {{abi::fb::BufferSource::Input, 0}};
    function.results = {{{abi::ElementType::F32, {-1}}, 0, {0}}, {{abi::ElementType::I32, {}, true}, 0, {}, 1}};
    return buildProgram({function}, {});
  }

  /// `work(thread, round)` in every thread, so that they meet.
  template <typename Work> static void together(Work work) {
    std::vector<std::thread> threads;
    std::atomic<unsigned> there = 0;
    for (unsigned t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (++there; there < kThreads;)
          std::this_thread::yield();
        for (unsigned round = 0; round < kRounds; ++round)
          work(t, round);
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  tenon_buffer_t *word(uint32_t value) {
    tenon_buffer_t *made = nullptr;
    expectOk(tenon_buffer_create(device, &value, sizeof(value), nullptr, &made));
    return made;
  }
  void launch(tenon_executable_t *which, uint32_t a, uint32_t b) {
    const uint32_t one[3] = {1, 1, 1};
    tenon_buffer_t *buffers[] = {word(a), word(b)};
    const uint64_t constant = 5;
    expectOk(tenon_executable_launch(which, "add", one, buffers, 2, &constant, 1, nullptr));
    expectOk(tenon_device_wait(device));
    uint32_t sum = 0;
    expectOk(tenon_buffer_read(buffers[1], 0, &sum, sizeof(sum)));
    EXPECT_EQ(sum, a + b + 5);
    tenon_buffer_release(buffers[0]);
    tenon_buffer_release(buffers[1]);
  }
  /// On the device's own stream, and between semaphores; as many shapes as plans are kept, and more.
  void call(unsigned thread, unsigned round) {
    const int64_t shape[] = {1 + (round * 3 + thread) % 16};
    tenon_value_t inputs[2] = {{.struct_size = sizeof(tenon_value_t)}, {.struct_size = sizeof(tenon_value_t)}};
    inputs[0].element = TENON_F32, inputs[0].buffer = buffer, inputs[0].shape = shape, inputs[0].rank = 1;
    inputs[1].element = TENON_I32, inputs[1].scalar_bits = static_cast<int64_t>(round);
    tenon_results_t *called = nullptr, *submitted = nullptr;
    expectOk(tenon_program_call(program, 0, inputs, 2, &called));
    tenon_semaphore_t *done = nullptr;
    expectOk(tenon_semaphore_create(0, &done));
    const tenon_semaphore_point_t point = {done, 1};
    tenon_submission_t between = {.struct_size = sizeof(between)};
    between.signals = &point, between.signal_count = 1;
    expectOk(tenon_program_submit(program, queue, &between, 0, inputs, 2, &submitted));
    expectOk(tenon_semaphores_wait_all(&point, 1, TENON_WAIT_FOREVER));
    for (tenon_results_t *results : {called, submitted}) {
      tenon_value_t value = {.struct_size = sizeof(value)};
      expectOk(tenon_results_value(results, 0, &value));
      EXPECT_EQ(value.shape[0], shape[0]);
      tenon_buffer_release(value.buffer);
      expectOk(tenon_results_value(results, 1, &value));
      EXPECT_EQ(value.scalar_bits, static_cast<int64_t>(round));
      tenon_results_release(results);
    }
    tenon_semaphore_release(done);
  }
  /// Memory of a shared pool, filled by a command buffer on a shared queue, and given back.
  void submit(uint8_t value) {
    tenon_semaphore_t *steps = nullptr;
    expectOk(tenon_semaphore_create(0, &steps));
    const tenon_semaphore_point_t there = {steps, 1}, filled = {steps, 2}, gone = {steps, 3};
    tenon_submission_t submission = {.struct_size = sizeof(submission)};
    submission.signals = &there, submission.signal_count = 1;
    tenon_allocation_t allocation = {.struct_size = sizeof(allocation)};
    allocation.bytes = 100, allocation.pool = pool;
    tenon_buffer_t *late = nullptr;
    expectOk(tenon_queue_allocate(queue, &submission, &allocation, &late));
    tenon_command_buffer_t *commands = nullptr;
    expectOk(tenon_command_buffer_create(device, nullptr, &commands));
    const tenon_buffer_ref_t whole = {late, 0, 0, TENON_WHOLE_BUFFER};
    expectOk(tenon_command_buffer_fill(commands, &whole, value, 1));
    expectOk(tenon_command_buffer_end(commands));
    submission.waits = &there, submission.wait_count = 1;
    submission.signals = &filled;
    submission.commands = commands;
    expectOk(tenon_queue_submit(queue, &submission));
    expectOk(tenon_semaphores_wait_all(&filled, 1, TENON_WAIT_FOREVER));
    std::vector<uint8_t> read(100);
    expectOk(tenon_buffer_read(late, 0, read.data(), read.size()));
    EXPECT_EQ(read, std::vector<uint8_t>(100, value));
    submission.waits = &filled, submission.signals = &gone;
    submission.commands = nullptr;
    expectOk(tenon_queue_deallocate(queue, &submission, late));
    expectOk(tenon_semaphores_wait_any(&gone, 1, TENON_WAIT_FOREVER));
    tenon_buffer_release(late);
    tenon_command_buffer_release(commands);
    tenon_semaphore_release(steps);
  }
  void ask() {
    tenon_device_info_t info = {.struct_size = sizeof(info)};
    expectOk(tenon_device_info(device, &info));
    tenon_statistics_t counts = {.struct_size = sizeof(counts)};
    expectOk(tenon_device_statistics(device, &counts));
    uint64_t free = 0, total = 0;
    expectOk(tenon_device_memory(device, &free, &total));
    expectOk(tenon_device_set_memory_limit(device, uint64_t(1) << 32));
    tenon_pool_statistics_t kept = {.struct_size = sizeof(kept)};
    expectOk(tenon_pool_statistics(pool, &kept));
    expectOk(tenon_pool_trim(pool));
    uint32_t found = 0;
    expectOk(tenon_executable_find_export(executable, "add", &found));
    expectOk(tenon_program_find_function(program, "identity", &found));
    tenon_export_info_t about = {.struct_size = sizeof(about)};
    expectOk(tenon_executable_export_info(executable, 0, &about));
  }

  std::vector<uint8_t> executableBytes;
  const AlignedBytes programBytes = identity();
  tenon_executable_t *executable = nullptr;
  tenon_program_t *program = nullptr;
  tenon_pool_t *pool = nullptr;
};

TEST_F(CApiThreadsTest, EverythingOfADeviceAtOnce) {
  together([&](unsigned thread, unsigned round) {
    switch ((thread + round) % 4) {
    case 0:
      return launch(executable, thread, round);
    case 1:
      return call(thread, round);
    case 2:
      return submit(static_cast<uint8_t>(16 * thread + round));
    default:
      return ask();
    }
  });
}

TEST_F(CApiThreadsTest, EachTheSameAtTheSameTime) {
  together([&](unsigned thread, unsigned round) { launch(executable, thread, round); });
  together([&](unsigned thread, unsigned round) { call(thread, round); });
  together([&](unsigned thread, unsigned round) { submit(static_cast<uint8_t>(16 * thread + round)); });
  together([&](unsigned, unsigned) { ask(); });
}

TEST_F(CApiThreadsTest, DevicesAndExecutablesComeAndGo) {
  together([&](unsigned thread, unsigned round) {
    if (thread == 0) { // the others work on
      launch(executable, thread, round);
      return;
    }
    tenon_driver_t *anotherDriver = nullptr;
    tenon_device_t *another = nullptr;
    expectOk(tenon_driver_open(nullptr, &anotherDriver));
    expectOk(tenon_device_open(anotherDriver, 0, &another));
    tenon_executable_t *loaded = nullptr;
    expectOk(tenon_executable_create(device, executableBytes.data(), executableBytes.size(), "again", &loaded));
    launch(loaded, thread, round);
    tenon_executable_release(loaded);
    tenon_device_release(another);
    tenon_driver_release(anotherDriver);
  });
}

TEST_F(CApiThreadsTest, WhileOneLooksOn) {
  const std::string path = testing::TempDir() + "tenon_c_api_threads_trace.json";
  std::atomic<uint64_t> told = 0;
  auto sink = [](void *user, const tenon_profile_event_t *) { ++*static_cast<std::atomic<uint64_t> *>(user); };
  expectOk(tenon_device_trace_begin(device));
  together([&](unsigned thread, unsigned round) {
    if (thread == 0) {
      expectOk(tenon_device_profile_begin(device, nullptr, sink, &told));
      submit(1);
      expectOk(tenon_device_profile_end(device));
      expectOk(tenon_device_trace_write(device, path.c_str()));
    } else if (thread == 1) {
      call(thread, round);
    } else {
      submit(static_cast<uint8_t>(round));
    }
  });
  expectOk(tenon_device_trace_end(device));
  EXPECT_GT(told, 0u);
  std::remove(path.c_str());
}

} // namespace tenon::test
