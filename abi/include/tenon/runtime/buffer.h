// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: memory that a device can reach. */
#ifndef TENON_RUNTIME_BUFFER_H
#define TENON_RUNTIME_BUFFER_H

#include "tenon/runtime/handles.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* The same with its first contents: `bytes` bytes at `data`, copied; `data` NULL: undefined ones. Since TENON_1_6. */
tenon_status_t *tenon_buffer_create(tenon_device_t *device, const void *data, uint64_t bytes,
                                    const tenon_buffer_options_t *options, tenon_buffer_t **out);
/* Another reference to the same memory. Since TENON_1_6. */
tenon_status_t *tenon_buffer_retain(tenon_buffer_t *buffer, tenon_buffer_t **out);
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
/* Where the host may read and write it: host-visible memory, and any memory on the emulator. NULL: the device's alone.
   Since TENON_1_6. */
void *tenon_buffer_host_address(const tenon_buffer_t *buffer);
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

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_BUFFER_H */
