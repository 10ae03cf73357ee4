// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: semaphores, and commands that are recorded once and submitted as often as one likes. */
#ifndef TENON_RUNTIME_COMMANDS_H
#define TENON_RUNTIME_COMMANDS_H

#include "tenon/runtime/executable.h"

#ifdef __cplusplus
extern "C" {
#endif

tenon_status_t *tenon_semaphore_create(uint64_t initial_value, tenon_semaphore_t **out);
void tenon_semaphore_release(tenon_semaphore_t *semaphore);
/* The value, or the status the semaphore failed with. */
tenon_status_t *tenon_semaphore_query(tenon_semaphore_t *semaphore, uint64_t *out);
tenon_status_t *tenon_semaphore_signal(tenon_semaphore_t *semaphore, uint64_t value);
/* Takes over `status`. */
void tenon_semaphore_fail(tenon_semaphore_t *semaphore, tenon_status_t *status);

typedef struct tenon_semaphore_point {
  tenon_semaphore_t *semaphore;
  uint64_t value;
} tenon_semaphore_point_t;
tenon_status_t *tenon_semaphores_wait_all(const tenon_semaphore_point_t *points, size_t count, uint64_t timeout_ns);
tenon_status_t *tenon_semaphores_wait_any(const tenon_semaphore_point_t *points, size_t count, uint64_t timeout_ns);

/* What another library may know a value of a semaphore as. Neither is supported: both answer TENON_UNIMPLEMENTED and
   say what to do instead. Since TENON_1_3. */
typedef enum tenon_timepoint_kind {
  TENON_TIMEPOINT_CUDA_EVENT = 0,
  TENON_TIMEPOINT_EVENT_FD = 1,
  TENON_TIMEPOINT_SYNC_FILE = 2
} tenon_timepoint_kind_t;
tenon_status_t *tenon_semaphore_export_timepoint(tenon_semaphore_t *semaphore, uint64_t value,
                                                 tenon_timepoint_kind_t kind, uint64_t *out);
tenon_status_t *tenon_semaphore_import_timepoint(tenon_semaphore_t *semaphore, uint64_t value,
                                                 tenon_timepoint_kind_t kind, uint64_t handle);

/* ---- Command buffers ---- */

/* A range of a buffer, or (buffer NULL) of what a submission binds to `slot`. */
typedef struct tenon_buffer_ref {
  tenon_buffer_t *buffer;
  uint32_t slot;
  uint64_t offset, length; /* length TENON_WHOLE_BUFFER: to the end */
} tenon_buffer_ref_t;

/* AUTO: a CUDA graph for what is submitted more than once, where the driver has graphs (12.0), else a stream. A graph
   runs side by side what no barrier orders. TENON_UNIMPLEMENTED: GRAPH, on a driver without. */
typedef enum tenon_commands_mode {
  TENON_COMMANDS_AUTO = 0,
  TENON_COMMANDS_STREAM = 1,
  TENON_COMMANDS_GRAPH = 2
} tenon_commands_mode_t;
typedef struct tenon_command_buffer_options {
  size_t struct_size;
  bool one_shot;
  uint32_t slot_count;
  tenon_commands_mode_t mode;
} tenon_command_buffer_options_t;

/* Begun and ready to record. `options` NULL: reusable, without slots. */
tenon_status_t *tenon_command_buffer_create(tenon_device_t *device, const tenon_command_buffer_options_t *options,
                                            tenon_command_buffer_t **out);
void tenon_command_buffer_release(tenon_command_buffer_t *commands);
tenon_status_t *tenon_command_buffer_end(tenon_command_buffer_t *commands);
/* pattern_bytes 1, 2 or 4. */
tenon_status_t *tenon_command_buffer_fill(tenon_command_buffer_t *commands, const tenon_buffer_ref_t *target,
                                          uint32_t pattern, uint32_t pattern_bytes);
/* At most 65536 bytes, copied now. */
tenon_status_t *tenon_command_buffer_update(tenon_command_buffer_t *commands, const void *data, size_t bytes,
                                            const tenon_buffer_ref_t *target);
tenon_status_t *tenon_command_buffer_copy(tenon_command_buffer_t *commands, const tenon_buffer_ref_t *source,
                                          const tenon_buffer_ref_t *target);

typedef struct tenon_dispatch {
  size_t struct_size;
  tenon_executable_t *executable;
  uint32_t ordinal;
  uint32_t grid[3];                      /* workgroup counts, unless grid_buffer is set */
  const tenon_buffer_ref_t *grid_buffer; /* NULL, or where three 32-bit counts are when the dispatch runs */
  const tenon_buffer_ref_t *bindings;
  size_t binding_count;
  /* 64-bit words, in the order of the layout's constants. A 32-bit word or a scalar: one, its low bytes are taken. A
   * struct by value: its bytes, eight to a word, the last one filled up. A tensor map that is declared with its binding
   * and box: the extents of the tensor in that binding, outermost first (the map is encoded from them); one that is
   * not: 16 words. */
  const uint64_t *constants;
  size_t constant_count; /* of words */
} tenon_dispatch_t;
tenon_status_t *tenon_command_buffer_dispatch(tenon_command_buffer_t *commands, const tenon_dispatch_t *dispatch);
tenon_status_t *tenon_command_buffer_barrier(tenon_command_buffer_t *commands);
tenon_status_t *tenon_event_create(tenon_event_t **out);
void tenon_event_release(tenon_event_t *event);
tenon_status_t *tenon_command_buffer_signal_event(tenon_command_buffer_t *commands, tenon_event_t *event);
tenon_status_t *tenon_command_buffer_reset_event(tenon_command_buffer_t *commands, tenon_event_t *event);
tenon_status_t *tenon_command_buffer_wait_event(tenon_command_buffer_t *commands, tenon_event_t *event);

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_COMMANDS_H */
