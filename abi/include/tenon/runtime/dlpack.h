// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: tensors of other libraries. Since TENON_1_3. */
#ifndef TENON_RUNTIME_DLPACK_H
#define TENON_RUNTIME_DLPACK_H

#include "tenon/runtime/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dlpack.h of the DLPack project, version 1. Which streams the two sides work on is theirs to order. */
struct DLManagedTensorVersioned;
/* A tensor for another library: CUDA memory, pinned host memory, or on the emulator, whose memory is the host's, CPU
   memory, which NumPy takes as it is; it keeps the buffer until its deleter is called. */
tenon_status_t *tenon_dlpack_export(const tenon_value_t *value, struct DLManagedTensorVersioned **out);
/* Another library's dense tensor in memory of this device, or pinned, or (on the emulator) in any host memory, as the
   one value of `*out`; its deleter is called when nobody uses the memory any more. Where this fails, it stays the
   caller's. TENON_UNIMPLEMENTED names what is not supported; TENON_FAILED_PRECONDITION: memory of another device. */
tenon_status_t *tenon_dlpack_import(tenon_device_t *device, struct DLManagedTensorVersioned *managed,
                                    tenon_results_t **out);

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_DLPACK_H */
