// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches: arguments checked as a driver checks them, copied, enqueued. A kernel that fails leaves its error in the
// context, as on a device: the launch itself succeeds, every later call returns the error, and the report goes to
// stderr.
#include "emulator/driver/state.h"
#include "emulator/schedule/run_launch.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {
namespace {

constexpr uint64_t kGridWorkspaceBytes = 4096;

/// Copies the caller's arguments into a parameter block.
CUresult packParameters(const DecodedKernel &decoded, void **parameters, void **extra, std::vector<uint8_t> &out) {
  out.assign(decoded.parameterBytes, 0);
  if (decoded.parameters.empty())
    return CUDA_SUCCESS;
  if (parameters && extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (parameters) {
    for (size_t k = 0; k < decoded.parameters.size(); ++k) {
      if (!parameters[k])
        return CUDA_ERROR_INVALID_VALUE;
      memcpy(out.data() + decoded.parameters[k].offset, parameters[k], decoded.parameters[k].bytes);
    }
    return CUDA_SUCCESS;
  }
  if (!extra)
    return CUDA_ERROR_INVALID_VALUE;
  const void *buffer = nullptr;
  size_t bytes = 0;
  for (size_t k = 0; extra[k] != CU_LAUNCH_PARAM_END; k += 2) {
    if (extra[k] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[k + 1];
    else if (extra[k] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = *static_cast<size_t *>(extra[k + 1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (!buffer || bytes < decoded.parameterBytes)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(out.data(), buffer, decoded.parameterBytes);
  return CUDA_SUCCESS;
}

CUresult checkShape(const Kernel &kernel, const Dim3 &grid, const Dim3 &block, const Dim3 &cluster,
                    unsigned sharedBytes) {
  const DecodedKernel &decoded = *kernel.decoded;
  if (!grid.count() || !block.count() || grid.y > 65535 || grid.z > 65535 || grid.x > 2147483647u || block.x > 1024 ||
      block.y > 1024 || block.z > 64 || block.count() > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  if (block.count() > decoded.maxThreads)
    return CUDA_ERROR_INVALID_VALUE;
  if (decoded.entry->requiredThreads) {
    const auto &wanted = *decoded.entry->requiredThreads;
    if (block.x != wanted[0] || block.y != wanted[1] || block.z != wanted[2])
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (sharedBytes > static_cast<unsigned>(kernel.maxDynamicShared))
    return CUDA_ERROR_INVALID_VALUE;
  if (decoded.entry->requiredCluster) {
    const auto &wanted = *decoded.entry->requiredCluster;
    if (cluster.x != wanted[0] || cluster.y != wanted[1] || cluster.z != wanted[2])
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  if (decoded.entry->maxClusterRank && cluster.count() > *decoded.entry->maxClusterRank)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (!cluster.count() || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (cluster.count() > 1 && kernel.module->context->device->arch->arch.number < 90)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (cluster.count() > (kernel.nonPortableCluster ? 16 : 8))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return CUDA_SUCCESS;
}

/// Blocks that fit on one multiprocessor at once.
int blocksPerMultiprocessor(const Kernel &kernel, int threads, size_t dynamicShared) {
  const Device &device = *kernel.module->context->device;
  const ArchLimits &arch = *device.arch;
  if (threads <= 0 || threads > static_cast<int>(kernel.decoded->maxThreads) ||
      dynamicShared > static_cast<size_t>(kernel.maxDynamicShared))
    return 0;
  int warps = (threads + 31) / 32;
  int blocks = std::min(arch.maxBlocksPerMultiprocessor, arch.maxThreadsPerMultiprocessor / (warps * 32));
  size_t shared = kernel.decoded->staticShared + dynamicShared + (arch.arch.number >= 80 ? 1024 : 0);
  if (shared)
    blocks = std::min(blocks, static_cast<int>(static_cast<size_t>(arch.sharedPerMultiprocessor) / shared));
  int registers = static_cast<int>(kernel.decoded->registersPerThread + 7) / 8 * 8 * warps * 32;
  return std::min(blocks, arch.registersPerMultiprocessor / registers);
}

} // namespace

CUresult checkKernelWork(const KernelWork &work) {
  const Kernel &kernel = *work.kernel;
  if (CUresult result = checkShape(kernel, work.grid, work.block, work.cluster, work.sharedBytes);
      result != CUDA_SUCCESS)
    return result;
  if (!work.cooperative)
    return CUDA_SUCCESS;
  const Context &context = *kernel.module->context;
  uint64_t fitting =
      static_cast<uint64_t>(blocksPerMultiprocessor(kernel, static_cast<int>(work.block.count()), work.sharedBytes)) *
      static_cast<uint64_t>(context.device->arch->multiprocessors);
  return work.grid.count() > fitting ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

CUresult makeKernelWork(Kernel *kernel, Dim3 grid, Dim3 block, const Dim3 *cluster, unsigned sharedBytes,
                        bool cooperative, void **parameters, void **extra, KernelWork &out) {
  out.kernel = kernel;
  out.grid = grid;
  out.block = block;
  out.clusterSet = cluster != nullptr;
  out.cluster = {};
  if (cluster) {
    out.cluster = *cluster;
  } else if (kernel->decoded->entry->requiredCluster) {
    const auto &wanted = *kernel->decoded->entry->requiredCluster;
    out.cluster = {wanted[0], wanted[1], wanted[2]};
  }
  out.sharedBytes = sharedBytes;
  out.cooperative = cooperative;
  if (CUresult result = checkKernelWork(out); result != CUDA_SUCCESS)
    return result;
  return packParameters(*kernel->decoded, parameters, extra, out.parameters);
}

Fault runKernel(Driver &driver, Context *context, const KernelWork &work) {
  const DecodedKernel &decoded = *work.kernel->decoded;
  Memory &memory = *context->device->memory;
  if (work.cooperative && !context->gridWorkspace) {
    context->gridWorkspace = memory.allocate(kGridWorkspaceBytes, AllocationKind::Variable, "(grid workspace)");
    if (!context->gridWorkspace)
      return {CUDA_ERROR_OUT_OF_MEMORY, "no memory for the grid barrier of '" + decoded.name + "'"};
  }
  if (work.cooperative)
    memset(memory.host(context->gridWorkspace), 0, kGridWorkspaceBytes);
  Launch launch;
  launch.kernel = &decoded;
  launch.grid = work.grid;
  launch.block = work.block;
  launch.cluster = work.cluster;
  launch.dynamicShared = work.sharedBytes;
  launch.parameters = work.parameters.data();
  launch.parameterBytes = static_cast<uint32_t>(work.parameters.size());
  launch.checks = driver.checks;
  if (driver.checks.readonly)
    launch.readOnly = readOnlyRanges(*work.kernel, memory, work.parameters);
  launch.gridWorkspace = work.cooperative ? context->gridWorkspace : 0;
  std::vector<const Memory *> peers;
  for (const Context *peer : context->peers)
    if (peer->active)
      peers.push_back(peer->device->memory.get());
  memory.setPeers(std::move(peers));
  LaunchResult result = runLaunch(launch, memory, context->services, driver.threads, driver.queue.random());
  driver.virtualTime += result.instructions;
  driver.threadInstructions += result.threadInstructions;
  return result.fault;
}

} // namespace tenon::emulator

Kernel *tenon::emulator::findKernel(const void *handle) {
  Kernel *kernel = static_cast<Kernel *>(const_cast<void *>(handle));
  return driver().kernels.count(kernel) ? kernel : nullptr;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters,
                        void **extra) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(on, stream);
  if (on->context != kernel->module->context)
    return CUDA_ERROR_INVALID_HANDLE;
  KernelWork work;
  CUresult result = makeKernelWork(kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, nullptr, sharedBytes, false,
                                   parameters, extra, work);
  return result != CUDA_SUCCESS ? result : enqueue(*on, std::move(work));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                   void **parameters) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(on, stream);
  if (on->context != kernel->module->context)
    return CUDA_ERROR_INVALID_HANDLE;
  KernelWork work;
  CUresult result = makeKernelWork(kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, nullptr, sharedBytes, true,
                                   parameters, nullptr, work);
  return result != CUDA_SUCCESS ? result : enqueue(*on, std::move(work));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(on, config->hStream);
  Dim3 cluster;
  bool cooperative = false, clusterSet = false;
  int priority = on->priority;
  for (unsigned k = 0; k < config->numAttrs; ++k) {
    const CUlaunchAttribute &attribute = config->attrs[k];
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      cooperative = attribute.value.cooperative;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z};
      clusterSet = true;
      break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      priority = attribute.value.priority;
      break;
    // Scheduling hints change nothing where launches never overlap.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      break;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  KernelWork work;
  CUresult result =
      makeKernelWork(kernel, {config->gridDimX, config->gridDimY, config->gridDimZ},
                     {config->blockDimX, config->blockDimY, config->blockDimZ}, clusterSet ? &cluster : nullptr,
                     config->sharedMemBytes, cooperative, parameters, extra, work);
  work.priority = priority;
  return result != CUDA_SUCCESS ? result : enqueue(*on, std::move(work));
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
  *minGrid = bestBlocks * context->device->arch->multiprocessors;
  return CUDA_SUCCESS;
}
