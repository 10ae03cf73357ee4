// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/work_operation.h"

#include "emulator/driver/driver.h"
#include "emulator/driver/work/allocation_work.h"
#include "emulator/driver/work/kernel_work.h"
#include "emulator/driver/work/memory_ops.h"
#include "emulator/driver/work/transfer.h"

#include <cstdio>

namespace tenon::emulator {

bool WorkOperation::canRun() const {
  auto *memory = std::get_if<MemoryOpsWork>(&work);
  return !memory || canAdvance(driver(), *memory);
}

bool WorkOperation::run(Fault &fault) {
  Driver &driver = tenon::emulator::driver();
  if (auto *kernel = std::get_if<KernelWork>(&work))
    fault = runKernel(driver, context, *kernel);
  else if (auto *copy = std::get_if<CopyWork>(&work))
    fault = runCopy(driver, *copy);
  else if (auto *fill = std::get_if<FillWork>(&work))
    fault = runFill(driver, *fill);
  else if (auto *memory = std::get_if<MemoryOpsWork>(&work))
    return runMemoryOps(driver, *memory, fault);
  else if (auto *allocation = std::get_if<MemoryAllocWork>(&work))
    fault = runAllocation(driver, *allocation);
  else if (auto *release = std::get_if<MemoryFreeWork>(&work))
    fault = runRelease(driver, *release);
  return true;
}

void WorkOperation::fail(const Fault &fault) {
  markLost(context, fault.code);
  driver().lastReport = fault.message;
  fflush(stdout);
  fprintf(stderr, "tenon emulator: error: %s\n", fault.message.c_str());
}

void WorkOperation::callHostFunction(CUresult status) {
  const HostWork &host = std::get<HostWork>(work);
  if (host.callback)
    host.callback(host.stream, status, host.data);
  else
    host.function(host.data);
}

std::string WorkOperation::describeWait() const {
  return describeWork(work) + ", it is " + currentValue(driver(), std::get<MemoryOpsWork>(work));
}

} // namespace tenon::emulator
