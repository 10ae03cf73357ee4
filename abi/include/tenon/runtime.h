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

#include "tenon/runtime/buffer.h"
#include "tenon/runtime/commands.h"
#include "tenon/runtime/device.h"
#include "tenon/runtime/dlpack.h"
#include "tenon/runtime/executable.h"
#include "tenon/runtime/handles.h"
#include "tenon/runtime/program.h"
#include "tenon/runtime/queue.h"
#include "tenon/runtime/value.h"
#include "tenon/status.h"

#endif /* TENON_RUNTIME_H */
