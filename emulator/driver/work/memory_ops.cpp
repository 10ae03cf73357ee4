// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/memory_ops.h"

#include "emulator/driver/device.h"
#include "emulator/driver/driver.h"
#include "emulator/driver/memory/memory.h"

#include "support/number.h"

namespace tenon::emulator {
namespace {

/// Where the driver reaches the value, or null.
uint8_t *valueAt(Driver &driver, CUdeviceptr address, size_t bytes) {
  Device *device = deviceOf(driver, address);
  if (device)
    return device->memory->accessible(address, bytes, false) ? device->memory->host(address) : nullptr;
  const RegisteredRanges::Range *range = driver.registered.find(address);
  return range && address + bytes <= range->begin + range->bytes ? reinterpret_cast<uint8_t *>(address) : nullptr;
}

bool isWide(CUstreamBatchMemOpType type) {
  return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}
bool isWait(CUstreamBatchMemOpType type) {
  return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

uint64_t load(const uint8_t *at, bool wide) {
  return wide ? __atomic_load_n(reinterpret_cast<const uint64_t *>(at), __ATOMIC_ACQUIRE)
              : __atomic_load_n(reinterpret_cast<const uint32_t *>(at), __ATOMIC_ACQUIRE);
}

bool compares(uint64_t value, const CUstreamBatchMemOpParams &op) {
  bool wide = isWide(op.operation);
  uint64_t wanted = wide ? op.waitValue.value64 : op.waitValue.value;
  switch (op.waitValue.flags & 3) {
  case CU_STREAM_WAIT_VALUE_GEQ: // cyclic: the difference is not negative
    return wide ? static_cast<int64_t>(value - wanted) >= 0
                : static_cast<int32_t>(static_cast<uint32_t>(value) - static_cast<uint32_t>(wanted)) >= 0;
  case CU_STREAM_WAIT_VALUE_EQ:
    return value == wanted;
  case CU_STREAM_WAIT_VALUE_AND:
    return (value & wanted) != 0;
  default: // NOR
    return (wide ? ~(value | wanted) : static_cast<uint32_t>(~(value | wanted))) != 0;
  }
}

} // namespace

bool canAdvance(Driver &driver, const MemoryOpsWork &work) {
  if (work.next >= work.operations.size())
    return true;
  const CUstreamBatchMemOpParams &op = work.operations[work.next];
  if (!isWait(op.operation))
    return true;
  const uint8_t *at = valueAt(driver, op.waitValue.address, isWide(op.operation) ? 8 : 4);
  return !at || compares(load(at, isWide(op.operation)), op); // what is gone is a fault when it runs
}

std::string currentValue(Driver &driver, const MemoryOpsWork &work) {
  const CUstreamBatchMemOpParams &op = work.operations[work.next];
  const uint8_t *at = valueAt(driver, op.waitValue.address, isWide(op.operation) ? 8 : 4);
  return hexText(at ? load(at, isWide(op.operation)) : 0);
}

bool runMemoryOps(Driver &driver, MemoryOpsWork &work, Fault &fault) {
  while (work.next < work.operations.size()) {
    const CUstreamBatchMemOpParams &op = work.operations[work.next];
    if (op.operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES || op.operation == CU_STREAM_MEM_OP_BARRIER) {
      ++work.next;
      continue;
    }
    bool wide = isWide(op.operation);
    uint8_t *at = valueAt(driver, op.waitValue.address, wide ? 8 : 4);
    if (!at) {
      Device *device = deviceOf(driver, op.waitValue.address);
      fault = {CUDA_ERROR_ILLEGAL_ADDRESS, describeWork(work) + ": " +
                                               (device ? device->memory->describe(op.waitValue.address)
                                                       : "host memory is not registered any more")};
      return true;
    }
    if (Device *device = deviceOf(driver, op.waitValue.address); device && !isWait(op.operation))
      device->memory->markWritten(op.waitValue.address, wide ? 8 : 4);
    if (isWait(op.operation)) {
      if (!compares(load(at, wide), op))
        return false;
    } else if (wide) {
      __atomic_store_n(reinterpret_cast<uint64_t *>(at), op.writeValue.value64, __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(reinterpret_cast<uint32_t *>(at), op.writeValue.value, __ATOMIC_RELEASE);
    }
    ++work.next;
  }
  return true;
}

CUresult makeMemoryOpsWork(Driver &driver, const CUstreamBatchMemOpParams *operations, unsigned count, unsigned flags,
                           MemoryOpsWork &out) {
  if (!operations || !count || count > 256 || flags)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned k = 0; k < count; ++k) {
    const CUstreamBatchMemOpParams &op = operations[k];
    switch (op.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      if (op.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH)
        return CUDA_ERROR_NOT_SUPPORTED;
      if (op.waitValue.flags > 3)
        return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      if (op.writeValue.flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
        return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_STREAM_MEM_OP_BARRIER:
      continue;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
    size_t bytes = isWide(op.operation) ? 8 : 4;
    if (op.waitValue.address % bytes || !valueAt(driver, op.waitValue.address, bytes))
      return CUDA_ERROR_INVALID_VALUE;
  }
  out.operations.assign(operations, operations + count);
  out.flags = flags;
  out.next = 0;
  return CUDA_SUCCESS;
}

} // namespace tenon::emulator
