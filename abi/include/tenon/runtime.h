// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The C API of the runtime (libtenon_runtime.so): what other languages bind to. Compiles alone as C11 and C++.

   - A handle is opaque and counted: *_release drops the caller's reference, and what is in use stays alive until the
     work that uses it is complete. *_release takes NULL. Every other handle argument must not be NULL unless it says so
     (TENON_INVALID_ARGUMENT).
   - A function that can fail returns a status (tenon/status.h): NULL is success. Where one fails, its outputs are left
     NULL or zero. Nothing throws, exits or prints.
   - A struct begins with struct_size = sizeof of the struct as the caller was compiled. Fields are only ever added at
     the end; what an older caller does not know is 0, what a newer caller sets and the library does not know is
     refused.
   - A number that is none of its enum's, a count above 65536, a rank above 64 and memory that would end behind the last
     address are errors before anything is read by them; so is a size that there is no memory for
     (TENON_RESOURCE_EXHAUSTED). A pointer that is not NULL must point to what its count says.
   - Sizes and offsets are bytes, timeouts nanoseconds. Functions may be called from any thread; one command buffer is
     recorded by one thread at a time.
   - Symbols carry the version TENON_1. */
#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H

#include "tenon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_WHOLE_BUFFER UINT64_MAX
#define TENON_WAIT_FOREVER UINT64_MAX

typedef struct tenon_driver tenon_driver_t;
typedef struct tenon_device tenon_device_t;
typedef struct tenon_buffer tenon_buffer_t;
typedef struct tenon_executable tenon_executable_t;
typedef struct tenon_program tenon_program_t;
typedef struct tenon_results tenon_results_t;
typedef struct tenon_semaphore tenon_semaphore_t;
typedef struct tenon_event tenon_event_t;
typedef struct tenon_queue tenon_queue_t;
typedef struct tenon_command_buffer tenon_command_buffer_t;
typedef struct tenon_file tenon_file_t;
typedef struct tenon_pool tenon_pool_t;

/* "0.1.0" */
const char *tenon_version(void);

/* ---- Drivers and devices ---- */

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
void tenon_device_release(tenon_device_t *device);
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
tenon_status_t *tenon_device_memory(tenon_device_t *device, uint64_t *free_bytes, uint64_t *total_bytes);

/* How much of the device's memory may be taken in all; 0: no limit but the device's. Above it allocations fail as
   TENON_RESOURCE_EXHAUSTED. Since TENON_1_3. */
tenon_status_t *tenon_device_set_memory_limit(tenon_device_t *device, uint64_t bytes);

/* ---- Buffers ---- */

typedef enum tenon_memory { TENON_DEVICE_LOCAL = 0, TENON_HOST_VISIBLE = 1 } tenon_memory_t;
enum {
  TENON_USAGE_TRANSFER_SOURCE = 1,
  TENON_USAGE_TRANSFER_TARGET = 2,
  TENON_USAGE_DISPATCH = 4,
  TENON_USAGE_INDIRECT = 8,
  TENON_USAGE_MAPPING = 16
};
enum { TENON_ACCESS_READ = 1, TENON_ACCESS_WRITE = 2 };

typedef struct tenon_buffer_options {
  size_t struct_size;
  tenon_memory_t memory;
  uint32_t usage;  /* TENON_USAGE_* bits; 0: all */
  uint32_t access; /* TENON_ACCESS_* bits; 0: both */
} tenon_buffer_options_t;

/* `options` NULL: device memory for every use. */
tenon_status_t *tenon_buffer_allocate(tenon_device_t *device, uint64_t bytes, const tenon_buffer_options_t *options,
                                      tenon_buffer_t **out);
/* Memory of others, which stays theirs until `released` (may be NULL) is called with `user`. */
typedef void (*tenon_release_fn)(void *user);
tenon_status_t *tenon_buffer_import_device(tenon_device_t *device, uint64_t address, uint64_t bytes,
                                           const tenon_buffer_options_t *options, tenon_release_fn released, void *user,
                                           tenon_buffer_t **out);
tenon_status_t *tenon_buffer_import_host(tenon_device_t *device, void *memory, uint64_t bytes,
                                         const tenon_buffer_options_t *options, tenon_release_fn released, void *user,
                                         tenon_buffer_t **out);
void tenon_buffer_release(tenon_buffer_t *buffer);
uint64_t tenon_buffer_size(const tenon_buffer_t *buffer);
/* 0 while an allocation of tenon_queue_allocate waits for memory. */
uint64_t tenon_buffer_address(const tenon_buffer_t *buffer);
/* Host-visible memory as the host sees it. */
tenon_status_t *tenon_buffer_map(tenon_buffer_t *buffer, uint64_t offset, uint64_t length, uint32_t access, void **out);
/* Copies between host and device memory; complete when they return. Ordered with calls of programs, not with queues. */
tenon_status_t *tenon_buffer_write(tenon_buffer_t *buffer, uint64_t offset, const void *data, size_t bytes);
tenon_status_t *tenon_buffer_read(const tenon_buffer_t *buffer, uint64_t offset, void *data, size_t bytes);

/* Device memory that other processes can have, behind a POSIX descriptor. TENON_UNIMPLEMENTED names what driver or
   device lack. A descriptor that is exported is the caller's to close; one that is imported stays the caller's, and
   `bytes` are what the memory was allocated with, or fewer. Since TENON_1_3. */
tenon_status_t *tenon_buffer_allocate_shareable(tenon_device_t *device, uint64_t bytes,
                                                const tenon_buffer_options_t *options, tenon_buffer_t **out);
tenon_status_t *tenon_buffer_export_descriptor(const tenon_buffer_t *buffer, int *out);
tenon_status_t *tenon_buffer_import_descriptor(tenon_device_t *device, int descriptor, uint64_t bytes,
                                               const tenon_buffer_options_t *options, tenon_buffer_t **out);

/* ---- Executables ---- */

/* `data` (a .tnx file's bytes) is copied. TENON_DATA_LOSS: it does not verify; `name` is for messages. */
tenon_status_t *tenon_executable_create(tenon_device_t *device, const void *data, size_t bytes, const char *name,
                                        tenon_executable_t **out);
/* Which images may be taken at all. What is ruled out is in the table of the error where nothing runs. */
typedef enum tenon_images {
  TENON_IMAGES_DEFAULT = 0, /* what the environment's TENON_IMAGES says (any, cubin, ptx), else any */
  TENON_IMAGES_ANY = 1,
  TENON_IMAGES_CUBIN = 2, /* finished code only: nothing is compiled by the driver */
  TENON_IMAGES_PTX = 3    /* PTX only, as a device newer than the file would */
} tenon_images_t;
typedef struct tenon_image_options {
  size_t struct_size;
  tenon_images_t images;
  const char *variant; /* NULL: the best one; else this one only */
} tenon_image_options_t;
/* As tenon_executable_create, with options (NULL: none). Since TENON_1_2. */
tenon_status_t *tenon_executable_create_with_options(tenon_device_t *device, const void *data, size_t bytes,
                                                     const char *name, const tenon_image_options_t *options,
                                                     tenon_executable_t **out);
void tenon_executable_release(tenon_executable_t *executable);
size_t tenon_executable_export_count(const tenon_executable_t *executable);

typedef struct tenon_export_info {
  size_t struct_size;
  const char *name; /* valid as long as the executable */
  uint32_t binding_count, constant_count;
  uint32_t workgroup_size[3];
  uint32_t dynamic_shared_bytes;
  uint32_t constant_word_count; /* 64-bit words that a dispatch passes: tenon_dispatch_t */
  uint32_t parameter_count;     /* of the kernel */
  uint32_t slot_count;          /* pointers and constants in them: tenon_executable_slot_info */
} tenon_export_info_t;
tenon_status_t *tenon_executable_export_info(const tenon_executable_t *executable, uint32_t ordinal,
                                             tenon_export_info_t *out);

/* Where a pointer or a constant stands in the kernel's parameters. A dispatch need not know: it passes bindings and
   constants by number, and they are put in their places (abi/kernel_abi.md, K-3). */
typedef enum tenon_slot_kind {
  TENON_SLOT_BINDING = 0,
  TENON_SLOT_CONSTANT = 1,
  TENON_SLOT_HIDDEN = 2 /* a pointer that is passed as null */
} tenon_slot_kind_t;
typedef struct tenon_slot_info {
  size_t struct_size;
  tenon_slot_kind_t kind;
  uint32_t index;     /* of the binding or constant */
  uint32_t parameter; /* of the kernel, from 0 */
  uint32_t offset;    /* bytes from the start of that parameter: above 0 only in a struct passed by value */
  uint32_t size;      /* bytes */
  const char *name;   /* as declared, else empty; valid as long as the executable */
} tenon_slot_info_t;
/* In the order of the parameters. TENON_OUT_OF_RANGE: no such export or slot. Since TENON_1_5. */
tenon_status_t *tenon_executable_slot_info(const tenon_executable_t *executable, uint32_t ordinal, uint32_t slot,
                                           tenon_slot_info_t *out);
/* TENON_NOT_FOUND lists the exports there are. */
tenon_status_t *tenon_executable_find_export(const tenon_executable_t *executable, const char *name, uint32_t *out);

/* A global variable of the image that export `ordinal` runs from, by the name that the image gives it (C++ names are
   mangled): memory that keeps the executable. TENON_NOT_FOUND. Since TENON_1_3. */
tenon_status_t *tenon_executable_find_global(tenon_executable_t *executable, uint32_t ordinal, const char *name,
                                             tenon_buffer_t **out);

/* ---- Semaphores ---- */

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

/* ---- Queues ---- */

tenon_status_t *tenon_queue_create(tenon_device_t *device, tenon_queue_t **out);
/* Submissions whose waits were not reached fail as TENON_ABORTED; the rest is waited for. */
void tenon_queue_release(tenon_queue_t *queue);

typedef struct tenon_submission {
  size_t struct_size;
  const tenon_semaphore_point_t *waits;
  size_t wait_count;
  const tenon_semaphore_point_t *signals;
  size_t signal_count;
  tenon_command_buffer_t *commands;   /* NULL: only semaphores */
  const tenon_buffer_ref_t *bindings; /* the table of `commands`: refs to buffers */
  size_t binding_count;
} tenon_submission_t;
/* Returns at once; failures of the work come through the signals. */
tenon_status_t *tenon_queue_submit(tenon_queue_t *queue, const tenon_submission_t *submission);
/* Calls `function(user)` on a thread of the queue when the waits are reached; the status it returns (taken over) is the
   submission's. `submission` has no commands. */
typedef tenon_status_t *(*tenon_host_fn)(void *user);
tenon_status_t *tenon_queue_host_call(tenon_queue_t *queue, const tenon_submission_t *submission,
                                      tenon_host_fn function, void *user);
tenon_status_t *tenon_queue_wait_idle(tenon_queue_t *queue, uint64_t timeout_ns);

/* ---- Memory of queues, and pools (since TENON_1_3) ---- */

/* DRIVER: a pool of the driver's own. BLOCKS: blocks of one size, cut from slabs. RANGES: any size and alignment, cut
   from slabs, best fit. Memory that was deallocated is used again at once: the stream of its new user waits for the
   streams of the old ones. */
typedef enum tenon_pool_kind { TENON_POOL_DRIVER = 0, TENON_POOL_BLOCKS = 1, TENON_POOL_RANGES = 2 } tenon_pool_kind_t;
typedef struct tenon_pool_options {
  size_t struct_size;
  tenon_pool_kind_t kind;
  const char *name;                      /* for messages; NULL: "pool" */
  uint64_t limit_bytes;                  /* of what the pool takes from the device; 0: none */
  uint64_t release_threshold;            /* DRIVER: bytes that the driver keeps */
  uint64_t block_bytes, blocks_per_slab; /* BLOCKS; 0 blocks: 16 */
  uint64_t slab_bytes, alignment;        /* RANGES; 0: 32 MiB, 256 */
} tenon_pool_options_t;
tenon_status_t *tenon_pool_create(tenon_device_t *device, const tenon_pool_options_t *options, tenon_pool_t **out);
void tenon_pool_release(tenon_pool_t *pool);
typedef struct tenon_pool_statistics {
  size_t struct_size;
  uint64_t bytes_live, bytes_peak;   /* as allocations asked for */
  uint64_t live, allocations;        /* buffers now, and ever */
  uint64_t bytes_reserved;           /* taken from the device */
  uint64_t bytes_limit;              /* of bytes_reserved; 0: none */
  uint64_t bytes_free, largest_free; /* of slabs */
  uint64_t waiting;                  /* allocations that wait for memory */
} tenon_pool_statistics_t;
tenon_status_t *tenon_pool_statistics(const tenon_pool_t *pool, tenon_pool_statistics_t *out);
/* Returns to the driver what nobody uses. */
tenon_status_t *tenon_pool_trim(tenon_pool_t *pool);

typedef struct tenon_allocation {
  size_t struct_size;
  uint64_t bytes;
  const tenon_buffer_options_t *options; /* NULL: for every use; device memory only */
  tenon_pool_t *pool;                    /* NULL: the device's stream-ordered pool */
  uint64_t alignment;                    /* a power of two; 0: 256 */
  bool wait_for_memory; /* an exhausted pool delays the signals until something is returned to it; the buffer may be
                           named by commands before */
} tenon_allocation_t;
/* Memory that may be used when the signals are reached. TENON_RESOURCE_EXHAUSTED says what was asked for and what is
   left. `submission` has no commands. */
tenon_status_t *tenon_queue_allocate(tenon_queue_t *queue, const tenon_submission_t *submission,
                                     const tenon_allocation_t *allocation, tenon_buffer_t **out);
/* Returns the memory when the waits are reached; `buffer` is still to be released. */
tenon_status_t *tenon_queue_deallocate(tenon_queue_t *queue, const tenon_submission_t *submission,
                                       tenon_buffer_t *buffer);

/* ---- Files (since TENON_1_3) ---- */

/* A regular file that is open for `access` (TENON_ACCESS_* bits). The descriptor is duplicated: the caller's may be
   closed. The file has the length that it has now. `name` (may be NULL) is for messages. */
tenon_status_t *tenon_file_import_descriptor(int descriptor, uint32_t access, const char *name, tenon_file_t **out);
/* Host memory as a file; it stays the caller's until `released` (may be NULL) is called with `user`. */
tenon_status_t *tenon_file_import_memory(void *memory, uint64_t bytes, uint32_t access, const char *name,
                                         tenon_release_fn released, void *user, tenon_file_t **out);
void tenon_file_release(tenon_file_t *file);
uint64_t tenon_file_size(const tenon_file_t *file);
/* Bytes of the file from `file_offset` on into all of `target`, or all of `source` into the file, when the waits are
   reached, on a thread of their own. TENON_OUT_OF_RANGE: past the end of file or buffer; TENON_FAILED_PRECONDITION: one
   of them may not be read or written. What fails later fails the signals. `submission` has no commands. */
tenon_status_t *tenon_queue_read_file(tenon_queue_t *queue, const tenon_submission_t *submission, tenon_file_t *file,
                                      uint64_t file_offset, const tenon_buffer_ref_t *target);
tenon_status_t *tenon_queue_write_file(tenon_queue_t *queue, const tenon_submission_t *submission,
                                       const tenon_buffer_ref_t *source, tenon_file_t *file, uint64_t file_offset);

/* ---- Programs ---- */

/* Numbers are those of the file format. */
typedef enum tenon_element_type {
  TENON_I1 = 0,
  TENON_I8 = 1,
  TENON_I16 = 2,
  TENON_I32 = 3,
  TENON_I64 = 4,
  TENON_F16 = 5,
  TENON_BF16 = 6,
  TENON_F32 = 7,
  TENON_F64 = 8,
  TENON_INDEX = 9
} tenon_element_type_t;

/* A dense row-major tensor in a buffer (from its start), or with buffer NULL a scalar: integers sign-extended, floats
   their own bits. */
typedef struct tenon_value {
  size_t struct_size;
  tenon_element_type_t element;
  tenon_buffer_t *buffer;
  const int64_t *shape; /* [rank] */
  size_t rank;
  int64_t scalar_bits;
} tenon_value_t;

/* `data` (a .tenon file's bytes) is copied. */
tenon_status_t *tenon_program_create(tenon_device_t *device, const void *data, size_t bytes, const char *name,
                                     tenon_program_t **out);
/* The file is mapped. "-": standard input. */
tenon_status_t *tenon_program_open(tenon_device_t *device, const char *path, tenon_program_t **out);
/* As above, with options (NULL: none) for every executable of the program; a variant holds for those that have one of
   that name. TENON_NOT_FOUND: none has. Since TENON_1_2. */
tenon_status_t *tenon_program_create_with_options(tenon_device_t *device, const void *data, size_t bytes,
                                                  const char *name, const tenon_image_options_t *options,
                                                  tenon_program_t **out);
tenon_status_t *tenon_program_open_with_options(tenon_device_t *device, const char *path,
                                                const tenon_image_options_t *options, tenon_program_t **out);
void tenon_program_release(tenon_program_t *program);
size_t tenon_program_function_count(const tenon_program_t *program);
/* Valid as long as the program; NULL past the end. */
const char *tenon_program_function_name(const tenon_program_t *program, uint32_t function);
/* "" or NULL: the only function there is. */
tenon_status_t *tenon_program_find_function(const tenon_program_t *program, const char *name, uint32_t *out);
/* Runs a function to its end. Inputs are read, never written. TENON_FAILED_PRECONDITION: what the function expects of
   its values (check.*) does not hold, with the elements that differ; such a function takes neither a stream nor a
   queue. */
tenon_status_t *tenon_program_call(tenon_program_t *program, uint32_t function, const tenon_value_t *inputs,
                                   size_t input_count, tenon_results_t **out);
typedef struct tenon_call_options {
  size_t struct_size;
  bool synchronous; /* wait after every command: a fault names the very command; slower */
  bool no_graph;    /* never a CUDA graph */
  bool on_stream;   /* `stream` is a CUstream of the caller, in the device's primary context (NULL: the legacy default
                       stream). The call returns when its work is given to it; a stream that is being captured takes
                       the commands into the caller's graph. Inputs and results live until the work is complete. */
  void *stream;
} tenon_call_options_t;
/* As tenon_program_call, with options (NULL: none), again and again with the same results: where `*results` is not
   NULL, its memory is written, which must be large enough. A call whose shapes and scalars were seen before then
   allocates nothing. On failure `*results` stays as it was. Since TENON_1_1. */
tenon_status_t *tenon_program_call_again(tenon_program_t *program, uint32_t function, const tenon_value_t *inputs,
                                         size_t input_count, const tenon_call_options_t *options,
                                         tenon_results_t **results);
/* A call as a submission of a queue: it begins when the waits are reached, and the signals say when it is complete or
   what went wrong. `submission` has no commands. `*results` as above, set when this returns. The program must outlive
   the call. Since TENON_1_1. */
tenon_status_t *tenon_program_submit(tenon_program_t *program, tenon_queue_t *queue,
                                     const tenon_submission_t *submission, uint32_t function,
                                     const tenon_value_t *inputs, size_t input_count, tenon_results_t **results);
void tenon_results_release(tenon_results_t *results);
size_t tenon_results_count(const tenon_results_t *results);
/* `out->buffer` is a new reference (tenon_buffer_release); `out->shape` is valid as long as the results. */
tenon_status_t *tenon_results_value(const tenon_results_t *results, size_t index, tenon_value_t *out);

/* ---- DLPack (since TENON_1_3) ---- */

/* dlpack.h of the DLPack project, version 1. Which streams the two sides work on is theirs to order. */
struct DLManagedTensorVersioned;
/* A tensor for another library; it keeps the buffer until its deleter is called. */
tenon_status_t *tenon_dlpack_export(const tenon_value_t *value, struct DLManagedTensorVersioned **out);
/* Another library's dense tensor in memory of this device, or pinned, as the one value of `*out`; its deleter is called
   when nobody uses the memory any more. Where this fails, it stays the caller's. TENON_UNIMPLEMENTED names what is not
   supported; TENON_FAILED_PRECONDITION: memory of another device. */
tenon_status_t *tenon_dlpack_import(tenon_device_t *device, struct DLManagedTensorVersioned *managed,
                                    tenon_results_t **out);

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
#endif /* TENON_RUNTIME_H */
