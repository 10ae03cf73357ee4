// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work: semaphores, command buffers, submissions.
#include "tests/fuzz/c_api_caller.h"

namespace tenon::fuzz {

std::vector<tenon_semaphore_point_t> Caller::points() {
  std::vector<tenon_semaphore_point_t> out(in_.below(4));
  for (tenon_semaphore_point_t &point : out)
    point = {semaphores_.pick(in_), in_.number()};
  return out;
}

void Caller::wait() {
  const std::vector<tenon_semaphore_point_t> given = points();
  const size_t count = in_.count(given.size());
  drop(in_.flag() ? tenon_semaphores_wait_all(given.data(), count, timeout())
                  : tenon_semaphores_wait_any(given.data(), count, timeout()));
  if (in_.byte() < 32)
    drop(tenon_queue_wait_idle(queues_.pick(in_), timeout()));
}

void Caller::semaphore() {
  tenon_semaphore_t *one = semaphores_.pick(in_), *made = nullptr;
  uint64_t value = 0;
  switch (in_.below(6)) {
  case 0:
  case 1:
    give(semaphores_, tenon_semaphore_create(in_.number(), &made), made);
    return;
  case 2:
    drop(tenon_semaphore_query(one, &value));
    return;
  case 3:
    drop(tenon_semaphore_signal(one, in_.number()));
    return;
  case 4:
    tenon_semaphore_fail(one, tenon_status_create(static_cast<tenon_status_code_t>(1 + in_.below(TENON_INTERNAL - 1)),
                                                  "as the input wants it"));
    return;
  default:
    drop(in_.flag()
             ? tenon_semaphore_export_timepoint(one, in_.number(), any<tenon_timepoint_kind_t>(2), &value)
             : tenon_semaphore_import_timepoint(one, in_.number(), any<tenon_timepoint_kind_t>(2), in_.number()));
  }
}

void Caller::begin() {
  tenon_command_buffer_options_t wanted = {};
  wanted.one_shot = in_.flag();
  wanted.slot_count = static_cast<uint32_t>(in_.byte() < 240 ? in_.below(8) : in_.number());
  wanted.mode = any<tenon_commands_mode_t>(2);
  Given<tenon_command_buffer_options_t> options(wanted);
  tenon_command_buffer_t *commands = nullptr;
  give(commands_, tenon_command_buffer_create(device(), options.put(in_), &commands), commands);
  tenon_event_t *event = nullptr;
  if (in_.flag())
    give(events_, tenon_event_create(in_.byte() < 240 ? &event : nullptr), event);
  tenon_queue_t *queue = nullptr;
  if (in_.byte() < 16 && queues_.live.size() < 3)
    give(queues_, tenon_queue_create(device(), &queue), queue);
}

void Caller::record() {
  tenon_command_buffer_t *commands = commands_.pick(in_);
  const tenon_buffer_ref_t one = ref(), two = ref();
  const tenon_buffer_ref_t *first = in_.byte() < 245 ? &one : nullptr;
  unsigned char data[256] = {};
  switch (in_.below(9)) {
  case 0:
    drop(tenon_command_buffer_end(commands));
    return;
  case 1:
    drop(tenon_command_buffer_fill(commands, first, static_cast<uint32_t>(in_.number()),
                                   static_cast<uint32_t>(in_.flag() ? in_.below(5) : in_.number())));
    return;
  case 2: {
    const bool isThere = in_.byte() < 240;
    drop(tenon_command_buffer_update(commands, isThere ? data : nullptr, isThere ? in_.byte() : in_.number(), first));
    return;
  }
  case 3:
    drop(tenon_command_buffer_copy(commands, first, &two));
    return;
  case 4:
    drop(tenon_command_buffer_barrier(commands));
    return;
  case 5:
    drop(tenon_command_buffer_signal_event(commands, events_.pick(in_)));
    return;
  case 6:
    drop(in_.flag() ? tenon_command_buffer_wait_event(commands, events_.pick(in_))
                    : tenon_command_buffer_reset_event(commands, events_.pick(in_)));
    return;
  default:
    dispatch(commands);
  }
}

void Caller::dispatch(tenon_command_buffer_t *commands) {
  std::vector<tenon_buffer_ref_t> bindings(in_.below(4));
  for (tenon_buffer_ref_t &binding : bindings)
    binding = ref();
  std::vector<uint64_t> constants(in_.below(4));
  for (uint64_t &constant : constants)
    constant = in_.number();
  const tenon_buffer_ref_t counts = ref();
  tenon_dispatch_t wanted = {};
  wanted.executable = executables_.pick(in_);
  wanted.ordinal = static_cast<uint32_t>(in_.below(4));
  for (uint32_t &extent : wanted.grid)
    extent = static_cast<uint32_t>(in_.number());
  wanted.grid_buffer = in_.byte() < 32 ? &counts : nullptr;
  wanted.bindings = bindings.data(), wanted.binding_count = in_.count(bindings.size());
  wanted.constants = constants.data(), wanted.constant_count = in_.count(constants.size());
  Given<tenon_dispatch_t> given(wanted);
  TENON_FUZZ_KEEP(given, tenon_dispatch_t, executable);
  TENON_FUZZ_KEEP(given, tenon_dispatch_t, grid_buffer);
  TENON_FUZZ_KEEP(given, tenon_dispatch_t, bindings);
  TENON_FUZZ_KEEP(given, tenon_dispatch_t, binding_count);
  TENON_FUZZ_KEEP(given, tenon_dispatch_t, constants);
  TENON_FUZZ_KEEP(given, tenon_dispatch_t, constant_count);
  drop(tenon_command_buffer_dispatch(commands, given.put(in_)));
}

Given<tenon_submission_t> Caller::submission(Submission &out, bool hasCommands) {
  out.waits = points(), out.signals = points();
  out.bindings.resize(hasCommands ? in_.below(8) : 0);
  for (tenon_buffer_ref_t &binding : out.bindings)
    binding = ref();
  tenon_submission_t &wanted = out.wanted;
  wanted.waits = out.waits.data(), wanted.wait_count = in_.flag() ? 0 : in_.count(out.waits.size());
  wanted.signals = out.signals.data(), wanted.signal_count = in_.count(out.signals.size());
  wanted.bindings = out.bindings.data(), wanted.binding_count = in_.count(out.bindings.size());
  if (hasCommands)
    wanted.commands = commands_.pick(in_);
  Given<tenon_submission_t> given(wanted);
  given.keep(0, sizeof(wanted)); // all of it points, or counts
  return given;
}

void Caller::submit() {
  Submission room;
  if (in_.byte() < 200) {
    Given<tenon_submission_t> given = submission(room, true);
    drop(tenon_queue_submit(queues_.pick(in_), given.put(in_)));
    return;
  }
  Given<tenon_submission_t> given = submission(room, in_.byte() >= 250);
  const tenon_host_fn works = [](void *) -> tenon_status_t * { return nullptr; };
  const tenon_host_fn fails = [](void *) { return tenon_status_create(TENON_DATA_LOSS, "as the input wants it"); };
  const uint8_t choice = in_.byte();
  drop(tenon_queue_host_call(queues_.pick(in_), given.put(in_),
                             choice >= 250   ? nullptr
                             : choice >= 128 ? fails
                                             : works,
                             nullptr));
}

} // namespace tenon::fuzz
