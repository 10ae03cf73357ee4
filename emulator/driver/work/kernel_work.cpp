// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/kernel_work.h"

#include "emulator/driver/context.h"
#include "emulator/driver/device.h"
#include "emulator/driver/driver.h"
#include "emulator/driver/module/module.h"
#include "emulator/driver/module/occupancy.h"
#include "emulator/driver/module/read_only.h"
#include "emulator/schedule/run_launch.h"

#include <cstdio>
#include <cstring>

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

CUresult validateShape(const Kernel &kernel, const Dim3 &grid, const Dim3 &block, const Dim3 &cluster,
                       unsigned sharedBytes) {
  const DecodedKernel &decoded = *kernel.decoded;
  if (!grid.count() || !block.count() || grid.x > abi::kMaxGrid[0] || grid.y > abi::kMaxGrid[1] ||
      grid.z > abi::kMaxGrid[2] || block.x > abi::kMaxBlockThreads || block.y > abi::kMaxBlockThreads ||
      block.z > abi::kMaxBlockThreadsZ || block.count() > abi::kMaxBlockThreads)
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
  if (cluster.count() > 1 && !abi::hasClusters(kernel.module->context->device->arch->number))
    return CUDA_ERROR_NOT_SUPPORTED;
  if (cluster.count() > (kernel.nonPortableCluster ? abi::kMaxClusterBlocks : abi::kPortableClusterBlocks))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return CUDA_SUCCESS;
}

} // namespace

CUresult validateKernelWork(const KernelWork &work) {
  const Kernel &kernel = *work.kernel;
  if (CUresult result = validateShape(kernel, work.grid, work.block, work.cluster, work.sharedBytes);
      result != CUDA_SUCCESS)
    return result;
  if (!work.cooperative)
    return CUDA_SUCCESS;
  const Context &context = *kernel.module->context;
  uint64_t fitting =
      static_cast<uint64_t>(blocksPerMultiprocessor(kernel, static_cast<int>(work.block.count()), work.sharedBytes)) *
      static_cast<uint64_t>(context.device->arch->product.multiprocessors);
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
  if (CUresult result = validateKernelWork(out); result != CUDA_SUCCESS)
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
  launch.control = &driver.control;
  std::vector<const Memory *> peers;
  for (const Context *peer : context->peers)
    if (peer->active)
      peers.push_back(peer->device->memory.get());
  memory.setPeers(std::move(peers));
  LaunchResult result = runLaunch(launch, memory, context->services, driver.threads, driver.queue.random());
  driver.queue.advanceTime(result.instructions);
  driver.threadInstructions += result.threadInstructions;
  for (const std::string &note : result.notes)
    if (driver.notes.insert(note).second)
      fprintf(stderr, "tenon emulator: note: %s\n", note.c_str());
  return result.fault;
}

} // namespace tenon::emulator
