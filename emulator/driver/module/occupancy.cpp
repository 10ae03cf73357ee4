// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/module/occupancy.h"

#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/module/module.h"

#include "abi/occupancy.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::emulator;

int tenon::emulator::blocksPerMultiprocessor(const Kernel &kernel, int threads, size_t dynamicShared) {
  if (threads <= 0 || threads > static_cast<int>(kernel.decoded->maxThreads) ||
      dynamicShared > static_cast<size_t>(kernel.maxDynamicShared))
    return 0;
  const abi::TargetArch arch{kernel.module->context->device->arch->number};
  const abi::Occupancy found =
      abi::computeOccupancy(arch, static_cast<uint64_t>(threads), kernel.decoded->registersPerThread,
                            kernel.decoded->staticShared + dynamicShared);
  return static_cast<int>(found.blocksPerSm);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamicShared) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!blocks || threads <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  *blocks = blocksPerMultiprocessor(*kernel, threads, dynamicShared);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                              size_t dynamicShared, unsigned) {
  TENON_CALL();
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamicShared);
}
CUresult cuOccupancyMaxPotentialBlockSize(int *minGrid, int *blockSize, CUfunction function,
                                          CUoccupancyB2DSize dynamicSharedOf, size_t dynamicShared, int limit) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!minGrid || !blockSize)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  int most = static_cast<int>(kernel->decoded->maxThreads), bestThreads = 0, bestBlocks = 0;
  if (limit > 0)
    most = std::min(most, limit);
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    int blocks = blocksPerMultiprocessor(*kernel, threads, dynamicSharedOf ? dynamicSharedOf(threads) : dynamicShared);
    if (blocks * threads > bestBlocks * bestThreads) {
      bestBlocks = blocks;
      bestThreads = threads;
    }
  }
  *blockSize = bestThreads;
  *minGrid = bestBlocks * static_cast<int>(context->device->arch->product.multiprocessors);
  return CUDA_SUCCESS;
}
