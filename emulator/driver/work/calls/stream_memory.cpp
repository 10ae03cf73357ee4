// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of stream memory operations.
#include "emulator/driver/call.h"
#include "emulator/driver/work/enqueue.h"
#include "emulator/driver/work/memory_ops.h"

using namespace tenon::emulator;

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  MemoryOpsWork work;
  CUresult result = makeMemoryOpsWork(driver, operations, count, flags, work);
  return result != CUDA_SUCCESS ? result : enqueue(*on, std::move(work));
}

namespace {
CUstreamBatchMemOpParams waitOp(CUstreamBatchMemOpType type, CUdeviceptr address, uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams op = {};
  op.operation = type;
  op.waitValue.address = address;
  op.waitValue.value64 = value;
  op.waitValue.flags = flags;
  return op;
}
CUstreamBatchMemOpParams writeOp(CUstreamBatchMemOpType type, CUdeviceptr address, uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams op = {};
  op.operation = type;
  op.writeValue.address = address;
  op.writeValue.value64 = value;
  op.writeValue.flags = flags;
  return op;
}
} // namespace

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  TENON_CALL();
  CUstreamBatchMemOpParams op = waitOp(CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
  return cuStreamBatchMemOp(stream, 1, &op, 0);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  TENON_CALL();
  CUstreamBatchMemOpParams op = waitOp(CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
  return cuStreamBatchMemOp(stream, 1, &op, 0);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  TENON_CALL();
  CUstreamBatchMemOpParams op = writeOp(CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
  return cuStreamBatchMemOp(stream, 1, &op, 0);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  TENON_CALL();
  CUstreamBatchMemOpParams op = writeOp(CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
  return cuStreamBatchMemOp(stream, 1, &op, 0);
}
