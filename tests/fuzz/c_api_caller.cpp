// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of calls, and those of drivers, devices and statuses.
#include "tests/fuzz/c_api_caller.h"

namespace tenon::fuzz {

Caller::Caller(Stream &in) : in_(in) {
  expectOk(tenon_driver_open(nullptr, &driver_));
  expectOk(tenon_device_open(driver_, 0, &device_));
  tenon_queue_t *queue = nullptr;
  expectOk(tenon_queue_create(device_, &queue));
  queues_.take(queue);
}

Caller::~Caller() {
  queues_.releaseAll(); // waits for work, which uses the rest
  results_.releaseAll(), programs_.releaseAll(), executables_.releaseAll(), commands_.releaseAll();
  events_.releaseAll(), buffers_.releaseAll(), pools_.releaseAll(), files_.releaseAll(), semaphores_.releaseAll();
  tenon_device_release(device_);
  tenon_driver_release(driver_);
}

void Caller::run() {
  using Step = void (Caller::*)();
  constexpr Step kSteps[] = {
      &Caller::query,   &Caller::allocate,  &Caller::import,  &Caller::access,   &Caller::load,   &Caller::examine,
      &Caller::wait,    &Caller::semaphore, &Caller::begin,   &Caller::record,   &Caller::record, &Caller::submit,
      &Caller::pool,    &Caller::late,      &Caller::file,    &Caller::transfer, &Caller::call,   &Caller::call,
      &Caller::results, &Caller::exchange,  &Caller::profile, &Caller::release,  &Caller::status, &Caller::release};
  for (int steps = 0; !in_.atEnd() && steps < 200; ++steps)
    (this->*kSteps[in_.below(std::size(kSteps))])();
}

void Caller::query() {
  size_t count = 0;
  Given<tenon_device_info_t> info{{}};
  Given<tenon_statistics_t> statistics{{}};
  uint64_t free = 0, total = 0;
  switch (in_.below(7)) {
  case 0:
    drop(tenon_driver_device_count(in_.flag() ? driver_ : nullptr, in_.flag() ? &count : nullptr));
    return;
  case 1:
    drop(tenon_driver_device_info(driver_, in_.number(), info.put(in_)));
    return;
  case 2:
    drop(tenon_device_info(device(), info.put(in_)));
    return;
  case 3:
    drop(tenon_device_statistics(device(), statistics.put(in_)));
    return;
  case 4:
    drop(tenon_device_memory(device(), &free, in_.flag() ? &total : nullptr));
    return;
  case 5: {
    tenon_device_t *opened = nullptr;
    const std::string uuid = in_.flag() ? "GPU-a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0" : in_.text(40);
    drop(in_.flag() ? tenon_device_open_uuid(driver_, uuid.c_str(), &opened)
                    : tenon_device_open(driver_, in_.number(), &opened));
    tenon_device_release(opened);
    return;
  }
  default: {
    tenon_driver_t *opened = nullptr;
    drop(tenon_driver_open(in_.text(12).c_str(), &opened));
    (void)tenon_driver_notice(opened);
    tenon_driver_release(opened);
  }
  }
}

void Caller::profile() {
  if (in_.flag()) {
    drop(tenon_device_profile_end(device()));
    return;
  }
  if (in_.byte() < 32) {
    drop(tenon_device_trace_write(device(), "/dev/null"));
    return;
  }
  const char *names[] = {"add", "sub", nullptr};
  tenon_profile_options_t wanted = {};
  wanted.no_host = in_.flag(), wanted.no_device = in_.flag();
  wanted.kinds = static_cast<uint32_t>(in_.number());
  wanted.exports = names, wanted.export_count = in_.count(3);
  Given<tenon_profile_options_t> options(wanted);
  TENON_FUZZ_KEEP(options, tenon_profile_options_t, exports);
  TENON_FUZZ_KEEP(options, tenon_profile_options_t, export_count);
  const tenon_profile_fn sink = [](void *, const tenon_profile_event_t *event) { (void)event->name[0]; };
  drop(tenon_device_profile_begin(device(), options.put(in_), in_.byte() < 250 ? sink : nullptr, nullptr));
}

void Caller::release() {
  switch (in_.below(9)) {
  case 0:
    return buffers_.releaseOne(in_);
  case 1:
    return executables_.releaseOne(in_);
  case 2:
    return commands_.releaseOne(in_);
  case 3:
    return events_.releaseOne(in_);
  case 4:
    return pools_.releaseOne(in_);
  case 5:
    return files_.releaseOne(in_);
  case 6:
    return semaphores_.releaseOne(in_);
  case 7:
    return results_.releaseOne(in_);
  default: // with its calls: they use the programs
    queues_.releaseAll();
    programs_.releaseOne(in_);
    tenon_queue_t *queue = nullptr;
    expectOk(tenon_queue_create(device_, &queue));
    queues_.take(queue);
  }
}

void Caller::status() {
  const auto code =
      static_cast<uint32_t>(any<tenon_status_code_t>(TENON_INTERNAL)); // a variable of the enum may not hold any
  (void)tenon_status_code_name(static_cast<tenon_status_code_t>(code));
  const std::string message = in_.text(8);
  tenon_status_t *made =
      tenon_status_create(static_cast<tenon_status_code_t>(code), in_.flag() ? message.c_str() : nullptr);
  (void)tenon_status_message(made);
  tenon_status_free(made);
}

} // namespace tenon::fuzz
