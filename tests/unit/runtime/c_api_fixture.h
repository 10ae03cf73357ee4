// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver, a device, a buffer, a queue and a semaphore of the C API, on the fake driver.
#pragma once

#include "tests/unit/runtime/fixture.h"

#include <cstdlib>
#include <tenon/runtime.h>

namespace tenon::test {

class CApiTest : public testing::Test {
protected:
  CApiTest() : fake(resetFakeDriver()) {
    setenv("TENON_CUDA_DRIVER", fakeDriverPath().c_str(), 1);
    setenv("TENON_CACHE_DIR", "none", 1);
    expectOk(tenon_driver_open(nullptr, &driver));
    expectOk(tenon_device_open(driver, 0, &device));
    expectOk(tenon_buffer_allocate(device, 64, nullptr, &buffer));
    expectOk(tenon_queue_create(device, &queue));
    expectOk(tenon_semaphore_create(0, &semaphore));
  }
  ~CApiTest() override {
    tenon_queue_release(queue);
    tenon_semaphore_release(semaphore);
    tenon_buffer_release(buffer);
    tenon_device_release(device);
    tenon_driver_release(driver);
    unsetenv("TENON_CUDA_DRIVER");
    unsetenv("TENON_CACHE_DIR");
    EXPECT_EQ(fake.liveAllocations, 0);
    EXPECT_EQ(fake.liveEvents, 0);
    EXPECT_EQ(fake.retained, 0);
  }
  static void expectOk(tenon_status_t *status) {
    EXPECT_EQ(status, nullptr) << tenon_status_message(status);
    tenon_status_free(status);
  }
  static void expectStatus(tenon_status_t *status, tenon_status_code_t code, const std::string &part) {
    EXPECT_EQ(tenon_status_code(status), code) << tenon_status_message(status);
    EXPECT_NE(std::string(tenon_status_message(status)).find(part), std::string::npos) << tenon_status_message(status);
    tenon_status_free(status);
  }
  tenon_buffer_ref_t ref(uint64_t offset = 0, uint64_t length = TENON_WHOLE_BUFFER) {
    return {buffer, 0, offset, length};
  }
  void submitAndWait(tenon_command_buffer_t *commands, uint64_t value) {
    const tenon_semaphore_point_t signal = {semaphore, value};
    tenon_submission_t submission = {.struct_size = sizeof(submission)};
    submission.signals = &signal, submission.signal_count = 1;
    submission.commands = commands;
    expectOk(tenon_queue_submit(queue, &submission));
    expectOk(tenon_semaphores_wait_all(&signal, 1, TENON_WAIT_FOREVER));
  }

  FakeDriver &fake;
  tenon_driver_t *driver = nullptr;
  tenon_device_t *device = nullptr;
  tenon_buffer_t *buffer = nullptr;
  tenon_queue_t *queue = nullptr;
  tenon_semaphore_t *semaphore = nullptr;
};

} // namespace tenon::test
