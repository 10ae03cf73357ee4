// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of devices.
#include "emulator/driver/device.h"
#include "emulator/driver/call.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

CUresult cuDeviceGetCount(int *count) {
  TENON_ENTER();
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(driver.devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  TENON_ENTER();
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (!findDevice(ordinal))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!name || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::string text = device->name();
  size_t bytes = std::min(text.size(), static_cast<size_t>(length) - 1);
  memcpy(name, text.data(), bytes);
  name[bytes] = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  // "tenon-emulator", then architecture and ordinal.
  memcpy(uuid->bytes, "tenon-emulator", 14);
  uuid->bytes[14] = static_cast<char>(device->arch->number);
  uuid->bytes[15] = static_cast<char>(ordinal);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  *bytes = device->memory->size();
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!major || !minor)
    return CUDA_ERROR_INVALID_VALUE;
  *major = device->arch->number / 10;
  *minor = device->arch->number % 10;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice ordinal) {
  TENON_ENTER();
  if (!findDevice(ordinal))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!id || length < 13)
    return CUDA_ERROR_INVALID_VALUE;
  snprintf(id, static_cast<size_t>(length), "ffff:%02x:00.0", ordinal); // no real bus has this domain
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  std::optional<int> found = attribute(*device, which);
  if (!value || !found)
    return CUDA_ERROR_INVALID_VALUE;
  *value = *found;
  return CUDA_SUCCESS;
}
