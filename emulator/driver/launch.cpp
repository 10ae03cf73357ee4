// Launches: arguments checked as a driver checks them, then the kernel runs to its end. A kernel that fails leaves its
// error in the context, as on a device: the launch itself succeeds, every later call returns the error, and the report
// goes to stderr.
#include "emulator/driver/state.h"
#include "emulator/scheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {
namespace {

constexpr uint64_t kGridWorkspaceBytes = 4096;

/// Copies the caller's arguments into a parameter block.
CUresult packParameters(const Program &program, void **parameters, void **extra, std::vector<uint8_t> &out) {
  out.assign(program.parameterBytes, 0);
  if (program.parameters.empty())
    return CUDA_SUCCESS;
  if (parameters && extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (parameters) {
    for (size_t k = 0; k < program.parameters.size(); ++k) {
      if (!parameters[k])
        return CUDA_ERROR_INVALID_VALUE;
      memcpy(out.data() + program.parameters[k].offset, parameters[k], program.parameters[k].bytes);
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
  if (!buffer || bytes < program.parameterBytes)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(out.data(), buffer, program.parameterBytes);
  return CUDA_SUCCESS;
}

CUresult checkShape(const Kernel &kernel, const Dim3 &grid, const Dim3 &block, const Dim3 &cluster,
                    unsigned sharedBytes) {
  const Program &program = *kernel.program;
  if (!grid.count() || !block.count() || grid.y > 65535 || grid.z > 65535 || grid.x > 2147483647u || block.x > 1024 ||
      block.y > 1024 || block.z > 64 || block.count() > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  if (block.count() > program.maxThreads)
    return CUDA_ERROR_INVALID_VALUE;
  if (program.entry->requiredThreads) {
    const auto &wanted = *program.entry->requiredThreads;
    if (block.x != wanted[0] || block.y != wanted[1] || block.z != wanted[2])
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (sharedBytes > static_cast<unsigned>(kernel.maxDynamicShared))
    return CUDA_ERROR_INVALID_VALUE;
  if (!cluster.count() || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (cluster.count() > 1 && kernel.module->context->device->arch->arch.number < 90)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (cluster.count() > (kernel.nonPortableCluster ? 16 : 8))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return CUDA_SUCCESS;
}

} // namespace

CUresult launchKernel(Context *context, Kernel *kernel, Dim3 grid, Dim3 block, Dim3 cluster, unsigned sharedBytes,
                      bool cooperative, void **parameters, void **extra) {
  Driver &driver = tenon::emulator::driver();
  const Program &program = *kernel->program;
  if (CUresult result = checkShape(*kernel, grid, block, cluster, sharedBytes); result != CUDA_SUCCESS)
    return result;
  std::vector<uint8_t> packed;
  if (CUresult result = packParameters(program, parameters, extra, packed); result != CUDA_SUCCESS)
    return result;
  Memory &memory = *context->device->memory;
  if (cooperative && !context->gridWorkspace) {
    context->gridWorkspace = memory.allocate(kGridWorkspaceBytes, AllocationKind::Variable, "(grid workspace)");
    if (!context->gridWorkspace)
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (cooperative)
    memset(memory.host(context->gridWorkspace), 0, kGridWorkspaceBytes);
  Launch launch;
  launch.program = &program;
  launch.grid = grid;
  launch.block = block;
  launch.cluster = cluster;
  launch.dynamicShared = sharedBytes;
  launch.parameters = packed.data();
  launch.parameterBytes = static_cast<uint32_t>(packed.size());
  launch.checks = driver.checks;
  launch.gridWorkspace = cooperative ? context->gridWorkspace : 0;
  Scheduler scheduler(launch, memory, context->services);
  Fault fault = scheduler.run();
  driver.virtualTime += scheduler.instructions();
  if (fault.code) {
    context->sticky = fault.code;
    driver.lastReport = fault.message;
    fflush(stdout);
    fprintf(stderr, "tenon emulator: error: %s\n", fault.message.c_str());
  }
  return CUDA_SUCCESS;
}

} // namespace tenon::emulator

namespace {
Kernel *kernelOf(Driver &driver, CUfunction handle) {
  Kernel *kernel = reinterpret_cast<Kernel *>(handle);
  return driver.kernels.count(kernel) ? kernel : nullptr;
}

/// Blocks that fit on one multiprocessor at once.
int blocksPerMultiprocessor(const Kernel &kernel, int threads, size_t dynamicShared) {
  const Device &device = *kernel.module->context->device;
  const ArchLimits &arch = *device.arch;
  if (threads <= 0 || threads > static_cast<int>(kernel.program->maxThreads) ||
      dynamicShared > static_cast<size_t>(kernel.maxDynamicShared))
    return 0;
  int warps = (threads + 31) / 32;
  int blocks = std::min(arch.maxBlocksPerMultiprocessor, arch.maxThreadsPerMultiprocessor / (warps * 32));
  size_t shared = kernel.program->staticShared + dynamicShared + (arch.arch.number >= 80 ? 1024 : 0);
  if (shared)
    blocks = std::min(blocks, static_cast<int>(static_cast<size_t>(arch.sharedPerMultiprocessor) / shared));
  int registers = static_cast<int>(kernel.program->registersPerThread + 7) / 8 * 8 * warps * 32;
  return std::min(blocks, arch.registersPerMultiprocessor / registers);
}
} // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters,
                        void **extra) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = kernelOf(driver, function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(stream);
  Dim3 cluster;
  if (kernel->program->entry->requiredCluster) {
    const auto &wanted = *kernel->program->entry->requiredCluster;
    cluster = {wanted[0], wanted[1], wanted[2]};
  }
  return launchKernel(context, kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, cluster, sharedBytes, false,
                      parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                   void **parameters) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = kernelOf(driver, function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(stream);
  uint64_t fitting = static_cast<uint64_t>(blocksPerMultiprocessor(
                         *kernel, static_cast<int>(std::min(1025u, blockX * blockY * blockZ)), sharedBytes)) *
                     static_cast<uint64_t>(context->device->arch->multiprocessors);
  if (static_cast<uint64_t>(gridX) * gridY * gridZ > fitting)
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return launchKernel(context, kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {}, sharedBytes, true,
                      parameters, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = kernelOf(driver, function);
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(config->hStream);
  Dim3 cluster;
  bool cooperative = false;
  for (unsigned k = 0; k < config->numAttrs; ++k) {
    const CUlaunchAttribute &attribute = config->attrs[k];
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      cooperative = attribute.value.cooperative;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z};
      break;
    // Scheduling hints change nothing where launches never overlap.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      break;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return launchKernel(context, kernel, {config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ}, cluster, config->sharedMemBytes,
                      cooperative, parameters, extra);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamicShared) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = kernelOf(driver, function);
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
  Kernel *kernel = kernelOf(driver, function);
  if (!minGrid || !blockSize)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  int most = static_cast<int>(kernel->program->maxThreads), bestThreads = 0, bestBlocks = 0;
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
