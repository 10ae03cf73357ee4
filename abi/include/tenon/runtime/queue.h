// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: what is submitted, in the order that semaphores give; memory and files in that order. */
#ifndef TENON_RUNTIME_QUEUE_H
#define TENON_RUNTIME_QUEUE_H

#include "tenon/runtime/commands.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_QUEUE_H */
