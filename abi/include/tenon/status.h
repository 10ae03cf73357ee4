// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The answer of every function of the C API: NULL is success, anything else a status that owns its message and is freed
   by the caller. Compiles alone as C11 and C++. */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are frozen. */
typedef enum tenon_status_code {
  TENON_OK = 0,
  TENON_INVALID_ARGUMENT = 1,    /* the caller's input is malformed or breaks a rule */
  TENON_NOT_FOUND = 2,           /* a file, symbol, function, device is not there */
  TENON_OUT_OF_RANGE = 3,        /* an index, offset or size past its end */
  TENON_FAILED_PRECONDITION = 4, /* well formed, but the state or the device cannot take it */
  TENON_RESOURCE_EXHAUSTED = 5,  /* memory or another limit */
  TENON_UNIMPLEMENTED = 6,       /* known and not supported; the message names it */
  TENON_UNAVAILABLE = 7,         /* no driver, no device */
  TENON_DATA_LOSS = 8,           /* bytes of a file do not verify */
  TENON_DEADLINE_EXCEEDED = 9,   /* a wait took too long */
  TENON_ABORTED = 10,            /* work ended by a fault of the device or another's failure */
  TENON_INTERNAL = 11            /* a bug in Tenon */
} tenon_status_code_t;

typedef struct tenon_status tenon_status_t;

/* Code of a status; TENON_OK for NULL. */
tenon_status_code_t tenon_status_code(const tenon_status_t *status);
/* Its message, NUL-terminated, valid until the status is freed; "" for NULL. */
const char *tenon_status_message(const tenon_status_t *status);
/* "invalid argument"; "unknown code" for other numbers. */
const char *tenon_status_code_name(tenon_status_code_t code);
/* A status of one's own, for host calls and tenon_semaphore_fail. NULL for TENON_OK. `message` is copied. */
tenon_status_t *tenon_status_create(tenon_status_code_t code, const char *message);
/* Frees; NULL is fine. The two are the same: _release since TENON_1_6. */
void tenon_status_release(tenon_status_t *status);
void tenon_status_free(tenon_status_t *status);

#ifdef __cplusplus
}
#endif
#endif /* TENON_STATUS_H */
