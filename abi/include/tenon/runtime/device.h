// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: drivers, devices, what is counted, recorded and measured of their work. */
#ifndef TENON_RUNTIME_DEVICE_H
#define TENON_RUNTIME_DEVICE_H

#include "tenon/runtime/handles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `name`: NULL or "" (a GPU if there is one, else the emulator), "cuda", "emulator", as `--device=` takes them. */
tenon_status_t *tenon_driver_open(const char *name, tenon_driver_t **out);
void tenon_driver_release(tenon_driver_t *driver);
/* One line for the user where the choice of driver is not the obvious one, else "". Valid as long as the driver. */
const char *tenon_driver_notice(const tenon_driver_t *driver);
tenon_status_t *tenon_driver_device_count(const tenon_driver_t *driver, size_t *out);

typedef struct tenon_device_info {
  size_t struct_size;
  char name[256];
  uint32_t compute_capability; /* 90 is 9.0 */
  uint32_t driver_version;     /* 13000 is 13.0 */
  uint64_t memory_bytes;
  uint8_t uuid[16]; /* zeros where the driver does not say */
  bool is_emulator; /* runs kernels on the CPU: times mean nothing */
} tenon_device_info_t;
/* TENON_UNAVAILABLE: no such device. */
tenon_status_t *tenon_driver_device_info(const tenon_driver_t *driver, size_t ordinal, tenon_device_info_t *out);

/* Opens a device on its primary context, which other libraries of the process share. */
tenon_status_t *tenon_device_open(tenon_driver_t *driver, size_t ordinal, tenon_device_t **out);
/* By uuid: "GPU-" and 32 hexadecimal digits, with or without hyphens. TENON_NOT_FOUND. */
tenon_status_t *tenon_device_open_uuid(tenon_driver_t *driver, const char *uuid, tenon_device_t **out);
/* Driver and first device in one; `name` as tenon_driver_open takes it. Since TENON_1_6. */
tenon_status_t *tenon_device_open_default(const char *name, tenon_device_t **out);
void tenon_device_release(tenon_device_t *device);
/* Waits for what was given to the device's own stream (launches and calls without one of the caller's), and answers
   what went wrong in it. Since TENON_1_6. */
tenon_status_t *tenon_device_wait(tenon_device_t *device);
/* Of a device that is open, also where it was found by its uuid. Since TENON_1_4. */
tenon_status_t *tenon_device_info(const tenon_device_t *device, tenon_device_info_t *out);

typedef struct tenon_statistics {
  size_t struct_size;
  uint64_t allocations, frees, bytes_live, bytes_peak, launches, modules_loaded;
  /* Since TENON_1_2. PTX that the driver compiled, or that was found compiled in the cache (TENON_CACHE_DIR, none: off;
     TENON_CACHE_BYTES: its limit). */
  uint64_t jit_compilations, jit_cache_hits;
  uint64_t graphs_instantiated, graph_nodes_patched;
} tenon_statistics_t;
/* Counts since the device was opened. */
tenon_status_t *tenon_device_statistics(const tenon_device_t *device, tenon_statistics_t *out);
/* Records calls, submissions and loads (host) and every command of them (device) from now on, while nothing runs;
   begins anew where it recorded already. Traced work uses no graph and is waited for. _write puts a file for Perfetto
   or chrome://tracing; TENON_FAILED_PRECONDITION: nothing is recorded. Since TENON_1_2. */
tenon_status_t *tenon_device_trace_begin(tenon_device_t *device);
tenon_status_t *tenon_device_trace_write(const tenon_device_t *device, const char *path);
/* Records no more, and forgets what it recorded, while nothing runs. Since TENON_1_6. */
tenon_status_t *tenon_device_trace_end(tenon_device_t *device);
tenon_status_t *tenon_device_memory(tenon_device_t *device, uint64_t *free_bytes, uint64_t *total_bytes);

/* How much of the device's memory may be taken in all; 0: no limit but the device's. Above it allocations fail as
   TENON_RESOURCE_EXHAUSTED. Since TENON_1_3. */
tenon_status_t *tenon_device_set_memory_limit(tenon_device_t *device, uint64_t bytes);

/* ---- Profiling (since TENON_1_3) ---- */

/* Of a submission: what it is; of a device event: the command. */
typedef enum tenon_profile_kind {
  TENON_PROFILE_COMMANDS = 0,
  TENON_PROFILE_DISPATCH = 1,
  TENON_PROFILE_FILL = 2,
  TENON_PROFILE_UPDATE = 3,
  TENON_PROFILE_COPY = 4,
  TENON_PROFILE_HOST_CALL = 5,
  TENON_PROFILE_FILE = 6,
  TENON_PROFILE_ALLOCATION = 7,
  TENON_PROFILE_DEALLOCATION = 8,
  TENON_PROFILE_CALL = 9
} tenon_profile_kind_t;
typedef struct tenon_profile_event {
  size_t struct_size;
  bool is_device;  /* times of a command on the device, else of a submission on the host */
  bool has_failed; /* host */
  tenon_profile_kind_t kind;
  const char *name; /* valid during the call */
  uint64_t queue, submission;
  uint32_t command; /* position in the command buffer */
  uint32_t grid[3]; /* of a dispatch; zeros: read from a buffer */
  uint64_t bytes;   /* of a fill, update, copy, file or allocation */
  /* Microseconds since profiling began. Host: submitted, given to the device, complete. Device: begin, 0, end. */
  double begin_us, issued_us, end_us;
} tenon_profile_event_t;
typedef void (*tenon_profile_fn)(void *user, const tenon_profile_event_t *event);
typedef struct tenon_profile_options {
  size_t struct_size;
  bool no_host, no_device;
  uint32_t kinds;             /* bits 1 << TENON_PROFILE_*; 0: all */
  const char *const *exports; /* of dispatches only these; none: all */
  size_t export_count;
} tenon_profile_options_t;
/* Calls `sink` for what the queues of the device do from now on, one call at a time, on threads of the queues; it calls
   nothing of the device. `options` NULL: everything. While device times are wanted, command buffers go to the device
   command by command, with the same results. TENON_UNIMPLEMENTED: the driver measures no times (before 12.8). */
tenon_status_t *tenon_device_profile_begin(tenon_device_t *device, const tenon_profile_options_t *options,
                                           tenon_profile_fn sink, void *user);
/* Nothing is told after this returns: wait for the queues before, to hear of all they do. */
tenon_status_t *tenon_device_profile_end(tenon_device_t *device);

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_DEVICE_H */
