// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: semaphores, command buffers, events, queues.
#include "runtime/c_api/support.h"
#include "runtime/commands/graph_command_buffer.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

namespace {

tenon_status_t *wait(const tenon_semaphore_point_t *points, size_t count, WaitMode mode, uint64_t timeoutNs) {
  TENON_C_ASSIGN_OR_RETURN(std::vector<SemaphorePoint> read, readPoints(points, count, "points"));
  return toC(waitSemaphores(read, mode, timeoutNs));
}

} // namespace

tenon_status_t *tenon_semaphore_create(uint64_t initial_value, tenon_semaphore_t **out) {
  TENON_C_OUTPUT(out);
  *out = new tenon_semaphore{Semaphore::create(initial_value)};
  return nullptr;
}
void tenon_semaphore_release(tenon_semaphore_t *semaphore) {
  delete semaphore;
}
tenon_status_t *tenon_semaphore_query(tenon_semaphore_t *semaphore, uint64_t *out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(semaphore);
  TENON_C_ASSIGN_OR_RETURN(*out, semaphore->value->query());
  return nullptr;
}
tenon_status_t *tenon_semaphore_signal(tenon_semaphore_t *semaphore, uint64_t value) {
  TENON_C_REQUIRE(semaphore);
  return toC(semaphore->value->signal(value));
}
void tenon_semaphore_fail(tenon_semaphore_t *semaphore, tenon_status_t *status) {
  Status failure = fromC(status);
  if (semaphore)
    semaphore->value->fail(std::move(failure));
}
tenon_status_t *tenon_semaphores_wait_all(const tenon_semaphore_point_t *points, size_t count, uint64_t timeout_ns) {
  return wait(points, count, WaitMode::All, timeout_ns);
}
tenon_status_t *tenon_semaphores_wait_any(const tenon_semaphore_point_t *points, size_t count, uint64_t timeout_ns) {
  return wait(points, count, WaitMode::Any, timeout_ns);
}

tenon_status_t *tenon_command_buffer_create(tenon_device_t *device, const tenon_command_buffer_options_t *options,
                                            tenon_command_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  CommandBufferOptions read;
  auto mode = CommandBufferMode::Auto;
  if (options) {
    TENON_C_ASSIGN_OR_RETURN(tenon_command_buffer_options_t given, readStruct(options, "options"));
    if (given.slot_count > (1u << 16))
      return toC(makeError(StatusCode::OutOfRange, given.slot_count, " slots, at most 65536 are possible"));
    const uint32_t wanted = numberOf(given.mode);
    if (wanted > TENON_COMMANDS_GRAPH)
      return toC(makeError(StatusCode::InvalidArgument, "unknown command buffer mode ", wanted));
    read = {isSet(given.one_shot), given.slot_count};
    mode = static_cast<CommandBufferMode>(wanted);
  }
  TENON_C_ASSIGN_OR_RETURN(std::shared_ptr<CommandBuffer> commands, createCommandBuffer(device->value, read, mode));
  if (Status status = commands->begin(); !status.ok())
    return toC(std::move(status));
  *out = new tenon_command_buffer{std::move(commands)};
  return nullptr;
}
void tenon_command_buffer_release(tenon_command_buffer_t *commands) {
  delete commands;
}
tenon_status_t *tenon_command_buffer_end(tenon_command_buffer_t *commands) {
  TENON_C_REQUIRE(commands);
  return toC(commands->value->end());
}
tenon_status_t *tenon_command_buffer_fill(tenon_command_buffer_t *commands, const tenon_buffer_ref_t *target,
                                          uint32_t pattern, uint32_t pattern_bytes) {
  TENON_C_REQUIRE(commands);
  TENON_C_REQUIRE(target);
  return toC(commands->value->fill(readRef(*target), pattern, pattern_bytes));
}
tenon_status_t *tenon_command_buffer_update(tenon_command_buffer_t *commands, const void *data, size_t bytes,
                                            const tenon_buffer_ref_t *target) {
  TENON_C_REQUIRE(commands);
  TENON_C_REQUIRE(target);
  if (bytes != 0)
    TENON_C_REQUIRE(data);
  return toC(commands->value->update({static_cast<const uint8_t *>(data), bytes}, readRef(*target)));
}
tenon_status_t *tenon_command_buffer_copy(tenon_command_buffer_t *commands, const tenon_buffer_ref_t *source,
                                          const tenon_buffer_ref_t *target) {
  TENON_C_REQUIRE(commands);
  TENON_C_REQUIRE(source);
  TENON_C_REQUIRE(target);
  return toC(commands->value->copy(readRef(*source), readRef(*target)));
}
tenon_status_t *tenon_command_buffer_dispatch(tenon_command_buffer_t *commands, const tenon_dispatch_t *dispatch) {
  TENON_C_REQUIRE(commands);
  TENON_C_ASSIGN_OR_RETURN(tenon_dispatch_t given, readStruct(dispatch, "dispatch"));
  TENON_C_REQUIRE(given.executable);
  TENON_C_RETURN_IF_ERROR(checkArray(given.bindings, given.binding_count, "bindings"));
  TENON_C_RETURN_IF_ERROR(checkArray(given.constants, given.constant_count, "constants"));
  DispatchArguments arguments;
  for (size_t i = 0; i < given.binding_count; ++i)
    arguments.bindings.push_back(readRef(given.bindings[i]));
  if (given.constant_count != 0)
    arguments.constants.assign(given.constants, given.constants + given.constant_count);
  const std::shared_ptr<Executable> &executable = given.executable->value;
  if (given.grid_buffer)
    return toC(commands->value->dispatchIndirect(executable, given.ordinal, readRef(*given.grid_buffer),
                                                 std::move(arguments)));
  return toC(commands->value->dispatch(executable, given.ordinal, {given.grid[0], given.grid[1], given.grid[2]},
                                       std::move(arguments)));
}
tenon_status_t *tenon_command_buffer_barrier(tenon_command_buffer_t *commands) {
  TENON_C_REQUIRE(commands);
  return toC(commands->value->barrier());
}
tenon_status_t *tenon_event_create(tenon_event_t **out) {
  TENON_C_OUTPUT(out);
  *out = new tenon_event{Event::create()};
  return nullptr;
}
void tenon_event_release(tenon_event_t *event) {
  delete event;
}
tenon_status_t *tenon_command_buffer_signal_event(tenon_command_buffer_t *commands, tenon_event_t *event) {
  TENON_C_REQUIRE(commands);
  TENON_C_REQUIRE(event);
  return toC(commands->value->signalEvent(event->value));
}
tenon_status_t *tenon_command_buffer_reset_event(tenon_command_buffer_t *commands, tenon_event_t *event) {
  TENON_C_REQUIRE(commands);
  TENON_C_REQUIRE(event);
  return toC(commands->value->resetEvent(event->value));
}
tenon_status_t *tenon_command_buffer_wait_event(tenon_command_buffer_t *commands, tenon_event_t *event) {
  TENON_C_REQUIRE(commands);
  TENON_C_REQUIRE(event);
  return toC(commands->value->waitEvents({&event->value, 1}));
}

tenon_status_t *tenon_queue_create(tenon_device_t *device, tenon_queue_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  return giveHandle(SubmissionQueue::create(device->value), out);
}
void tenon_queue_release(tenon_queue_t *queue) {
  delete queue;
}
tenon_status_t *tenon_queue_submit(tenon_queue_t *queue, const tenon_submission_t *submission) {
  TENON_C_REQUIRE(queue);
  TENON_C_ASSIGN_OR_RETURN(ReadSubmission read, readSubmission(submission));
  TENON_C_RETURN_IF_ERROR(checkArray(read.given.bindings, read.given.binding_count, "bindings"));
  if (!read.given.commands)
    return toC(queue->value->submit(read.waits, {}, read.signals));
  std::vector<TableEntry> table;
  for (size_t i = 0; i < read.given.binding_count; ++i) {
    BufferRef ref = readRef(read.given.bindings[i]);
    table.push_back({std::move(ref.buffer), ref.offset, ref.length});
  }
  const BoundCommandBuffer bound = {read.given.commands->value, table};
  return toC(queue->value->submit(read.waits, {&bound, 1}, read.signals));
}
tenon_status_t *tenon_queue_host_call(tenon_queue_t *queue, const tenon_submission_t *submission,
                                      tenon_host_fn function, void *user) {
  TENON_C_REQUIRE(queue);
  TENON_C_REQUIRE(function);
  TENON_C_ASSIGN_OR_RETURN(ReadSubmission read, readPointsOnly(submission, "a host call"));
  return toC(queue->value->hostCall(read.waits, [function, user] { return fromC(function(user)); }, read.signals));
}
tenon_status_t *tenon_queue_wait_idle(tenon_queue_t *queue, uint64_t timeout_ns) {
  TENON_C_REQUIRE(queue);
  return toC(queue->value->waitIdle(timeout_ns));
}
