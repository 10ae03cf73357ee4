// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: the handles of all of it, and its version. */
#ifndef TENON_RUNTIME_HANDLES_H
#define TENON_RUNTIME_HANDLES_H

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

/* Takes NUL-terminated text, which is valid during the call. Since TENON_1_6. */
typedef void (*tenon_text_fn)(void *user, const char *text);

/* "0.1.0" */
const char *tenon_version(void);

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_HANDLES_H */
