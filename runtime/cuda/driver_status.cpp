// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver names and explains its own codes; only the kind of failure is decided here.
#include "runtime/cuda/driver_status.h"

#include "runtime/cuda/first_fault.h"

#include <unistd.h>

namespace tenon::runtime::cuda {

StatusCode statusCodeOf(CUresult result) {
  switch (static_cast<int>(result)) {
  case CUDA_SUCCESS:
    return StatusCode::Ok;
  case CUDA_ERROR_OUT_OF_MEMORY:
  case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    return StatusCode::ResourceExhausted;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_NOT_INITIALIZED:
  case CUDA_ERROR_DEINITIALIZED:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_SYSTEM_NOT_READY:
    return StatusCode::Unavailable;
  case CUDA_ERROR_NOT_FOUND:
  case CUDA_ERROR_FILE_NOT_FOUND:
    return StatusCode::NotFound;
  case CUDA_ERROR_NOT_SUPPORTED:
    return StatusCode::Unimplemented;
  // A kernel went wrong: the context is lost, and every later call on it fails with the same code.
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    return StatusCode::Aborted;
  default:
    return StatusCode::FailedPrecondition;
  }
}

std::string resultName(const DriverTable &driver, CUresult result) {
  const char *name = nullptr;
  if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    return concat("CUDA error ", static_cast<int>(result));
  return concat(name, " (", static_cast<int>(result), ")");
}

Status driverStatus(const DriverTable &driver, CUresult result, std::string_view call) {
  if (result == CUDA_SUCCESS)
    return okStatus();
  std::string message = concat(call, ": ", resultName(driver, result));
  const char *sentence = nullptr;
  if (driver.cuGetErrorString(result, &sentence) == CUDA_SUCCESS && sentence)
    message += concat(": ", sentence);
  const StatusCode code = statusCodeOf(result);
  // Whatever the driver says of it, if anything: its state was not copied into this process.
  if (driver.process() != 0 && driver.process() != getpid())
    message += "; this process was forked from one that had used CUDA, and cannot use it itself. fix: fork before the "
               "first use, or start processes anew (multiprocessing's start method 'spawn')";
  if (code == StatusCode::Aborted)
    if (std::string fault = firstFault(driver.path()); !fault.empty())
      message +=
          concat("; a kernel failed before, and this process cannot use CUDA any more, start a new one: ", fault);
  return Status(code, std::move(message));
}

} // namespace tenon::runtime::cuda
