// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/handles.h"

namespace tenon::runtime::cuda {

Result<StreamHandle> createStream(const Driver &driver) {
  CUstream stream = nullptr;
  TENON_RETURN_IF_ERROR(driverStatus(driver, driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  return StreamHandle(driver, stream);
}

} // namespace tenon::runtime::cuda
