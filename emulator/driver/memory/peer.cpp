// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several devices: which reaches whose memory. Copies between devices always work; a kernel reaches the memory of
// another device when its context enabled that. All arenas have one bias (api/start.cpp), else no device has a peer.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"

using namespace tenon;
using namespace tenon::emulator;

namespace {

bool mayReach(const Device &device, const Device &peer) {
  return &device != &peer && device.memory->hostBias() == peer.memory->hostBias();
}

} // namespace

CUresult cuDeviceCanAccessPeer(int *can, CUdevice ordinal, CUdevice peerOrdinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal), *peer = findDevice(peerOrdinal);
  if (!device || !peer)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!can)
    return CUDA_ERROR_INVALID_VALUE;
  *can = mayReach(*device, *peer);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice ordinal, CUdevice peerOrdinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal), *peer = findDevice(peerOrdinal);
  if (!device || !peer || device == peer)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    *value = 0;
    return CUDA_SUCCESS;
  case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
  case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    *value = mayReach(*device, *peer);
    return CUDA_SUCCESS;
  case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    *value = 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  TENON_ENTER_CONTEXT();
  Context *peer = findContext(handle);
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (!peer || peer == context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!mayReach(*context->device, *peer->device))
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  return context->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}
CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  TENON_ENTER_CONTEXT();
  Context *peer = findContext(handle);
  if (!peer)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (CUresult result = driver.queue.finishAll(context); result != CUDA_SUCCESS)
    return result;
  return context->peers.erase(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
