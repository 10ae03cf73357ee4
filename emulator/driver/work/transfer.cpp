// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills as work: every form of the API is a CUDA_MEMCPY3D of bytes, or a CUDA_MEMSET_NODE_PARAMS. Device
// ranges are checked against live allocations row by row, host ranges are the caller's.
#include "emulator/driver/work/transfer.h"

#include "emulator/driver/device.h"
#include "emulator/driver/driver.h"
#include "emulator/driver/memory/memory.h"

#include "support/number.h"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {
namespace {

/// One side of a copy: where its byte (0, row, plane) lies.
struct Side {
  CUdeviceptr base = 0;
  size_t pitch = 0, height = 0;
  bool isHost = false; // said to be host memory; unified addressing looks
  CUdeviceptr at(size_t row, size_t plane) const { return base + (plane * height + row) * pitch; }
};

Side sideOf(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch, size_t height, size_t x, size_t y,
            size_t z, size_t width, size_t rows) {
  Side side;
  side.isHost = type == CU_MEMORYTYPE_HOST;
  side.pitch = pitch ? pitch : width;
  side.height = height ? height : rows;
  side.base = (side.isHost ? hostAddress(host) : device) + (z * side.height + y) * side.pitch + x;
  return side;
}
Side sourceOf(const CUDA_MEMCPY3D &c) {
  return sideOf(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcPitch, c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ,
                c.WidthInBytes, c.Height);
}
Side targetOf(const CUDA_MEMCPY3D &c) {
  return sideOf(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch, c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ,
                c.WidthInBytes, c.Height);
}

/// Where the emulator finds the bytes of one row, or null: not accessible. `device` says whose memory it is.
uint8_t *resolve(Driver &driver, CUdeviceptr address, size_t bytes, bool isHost, Device **device) {
  *device = deviceOf(driver, address);
  if (!*device)
    return isHost || !driver.devices.empty() ? reinterpret_cast<uint8_t *>(address) : nullptr;
  Memory &memory = *(*device)->memory;
  // Copies write constants (cuModuleGetGlobal gives their address), so this asks for read access only.
  return memory.accessible(address, bytes, false) ? memory.host(address) : nullptr;
}

Fault refuse(Driver &driver, const Work &work, const char *verb, CUdeviceptr address, size_t bytes) {
  Device *device = deviceOf(driver, address);
  return {CUDA_ERROR_ILLEGAL_ADDRESS, describeWork(work) + ": out-of-bounds " + verb + " of " + std::to_string(bytes) +
                                          " bytes at " + hexText(address) + ": " +
                                          (device ? device->memory->describe(address) : "no memory of a device")};
}

/// What comes to the host is a result, as a rule, and all of it is to be computed: a fault where nothing has written a
/// byte of it.
Fault checkResult(const Work &work, const Memory &source, CUdeviceptr address, size_t bytes) {
  const InitialisedMap *map = source.initialised();
  const uint64_t begin = address - source.deviceBase(), unset = map ? map->firstUnset(begin, bytes) : begin + bytes;
  if (unset == begin + bytes)
    return {};
  return {CUDA_ERROR_LAUNCH_FAILED, describeWork(work) + ": [results] copy to the host of " + std::to_string(bytes) +
                                        " bytes at " + hexText(address) + ": nothing has written the byte " +
                                        source.describe(source.deviceBase() + unset)};
}

/// Whether the host sees the memory without a further copy.
bool isOfHost(const Device *device, CUdeviceptr address) {
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  return !allocation || (allocation->kind != AllocationKind::Device && allocation->kind != AllocationKind::Heap);
}

} // namespace

CUDA_MEMCPY3D flatCopy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
}

CUresult validateCopy(Driver &driver, const CUDA_MEMCPY3D &copy) {
  for (CUmemorytype type : {copy.srcMemoryType, copy.dstMemoryType}) {
    if (type == CU_MEMORYTYPE_ARRAY)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
      return CUDA_ERROR_INVALID_VALUE;
  }
  size_t width = copy.WidthInBytes;
  if ((copy.srcPitch && copy.srcPitch < copy.srcXInBytes + width) ||
      (copy.dstPitch && copy.dstPitch < copy.dstXInBytes + width) ||
      (copy.Depth > 1 && ((copy.srcHeight && copy.srcHeight < copy.srcY + copy.Height) ||
                          (copy.dstHeight && copy.dstHeight < copy.dstY + copy.Height))))
    return CUDA_ERROR_INVALID_VALUE;
  if (!width || !copy.Height || !copy.Depth)
    return CUDA_SUCCESS;
  Side from = sourceOf(copy), to = targetOf(copy);
  for (const Side *side : {&from, &to}) {
    bool declaredDevice = (side == &from ? copy.srcMemoryType : copy.dstMemoryType) == CU_MEMORYTYPE_DEVICE;
    for (size_t plane = 0; plane < copy.Depth; ++plane)
      for (size_t row = 0; row < copy.Height; ++row) {
        CUdeviceptr address = side->at(row, plane);
        Device *device = deviceOf(driver, address);
        if (!address || (!device && declaredDevice))
          return CUDA_ERROR_INVALID_VALUE;
        if (device && !device->memory->accessible(address, width, false) && !device->memory->reserved(address, width))
          return CUDA_ERROR_INVALID_VALUE;
        if (!device) // rows of host memory are all alike
          row = copy.Height - 1, plane = copy.Depth - 1;
      }
  }
  return CUDA_SUCCESS;
}

Fault runCopy(Driver &driver, const CopyWork &work) {
  const CUDA_MEMCPY3D &copy = work.copy;
  size_t width = copy.WidthInBytes;
  if (!width)
    return {};
  Side from = sourceOf(copy), to = targetOf(copy);
  for (size_t plane = 0; plane < copy.Depth; ++plane)
    for (size_t row = 0; row < copy.Height; ++row) {
      Device *device = nullptr, *sourceDevice = nullptr;
      const uint8_t *source = work.staged ? work.staged->data() + (plane * copy.Height + row) * width
                                          : resolve(driver, from.at(row, plane), width, from.isHost, &sourceDevice);
      if (!source)
        return refuse(driver, work, "read", from.at(row, plane), width);
      uint8_t *target = resolve(driver, to.at(row, plane), width, to.isHost, &device);
      if (!target)
        return refuse(driver, work, "write", to.at(row, plane), width);
      if (driver.checks.results && sourceDevice && isOfHost(device, to.at(row, plane)))
        if (Fault fault = checkResult(work, *sourceDevice->memory, from.at(row, plane), width); fault.code)
          return fault;
      memmove(target, source, width);
      if (device && sourceDevice)
        device->memory->markCopied(to.at(row, plane), *sourceDevice->memory, from.at(row, plane), width);
      else if (device)
        device->memory->markWritten(to.at(row, plane), width);
    }
  return {};
}

bool readsPageable(Driver &driver, const CUDA_MEMCPY3D &copy) {
  CUdeviceptr address = sourceOf(copy).base;
  return copy.WidthInBytes && !deviceOf(driver, address) && !driver.registered.find(address);
}
bool writesPageable(Driver &driver, const CUDA_MEMCPY3D &copy) {
  CUdeviceptr address = targetOf(copy).base;
  return copy.WidthInBytes && !deviceOf(driver, address) && !driver.registered.find(address);
}

std::shared_ptr<std::vector<uint8_t>> stageSource(const CUDA_MEMCPY3D &copy) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(copy.WidthInBytes * copy.Height * copy.Depth);
  Side from = sourceOf(copy);
  uint8_t *to = bytes->data();
  for (size_t plane = 0; plane < copy.Depth; ++plane)
    for (size_t row = 0; row < copy.Height; ++row, to += copy.WidthInBytes)
      memcpy(to, reinterpret_cast<const void *>(from.at(row, plane)), copy.WidthInBytes);
  return bytes;
}

CUresult validateFill(Driver &driver, const CUDA_MEMSET_NODE_PARAMS &fill) {
  size_t size = fill.elementSize;
  if ((size != 1 && size != 2 && size != 4) || fill.width > SIZE_MAX / 4)
    return CUDA_ERROR_INVALID_VALUE;
  if (!fill.width || !fill.height)
    return CUDA_SUCCESS;
  if (fill.dst % size || (fill.height > 1 && (fill.pitch < fill.width * size || fill.pitch % size)))
    return CUDA_ERROR_INVALID_VALUE;
  Device *device = deviceOf(driver, fill.dst);
  for (size_t row = 0; row < fill.height; ++row) {
    CUdeviceptr address = fill.dst + row * fill.pitch;
    if (!device || (!device->memory->accessible(address, fill.width * size, false) &&
                    !device->memory->reserved(address, fill.width * size)))
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

Fault runFill(Driver &driver, const FillWork &work) {
  const CUDA_MEMSET_NODE_PARAMS &fill = work.fill;
  if (!fill.width)
    return {};
  size_t bytes = fill.width * fill.elementSize;
  for (size_t row = 0; row < fill.height; ++row) {
    Device *device = nullptr;
    CUdeviceptr address = fill.dst + row * fill.pitch;
    uint8_t *to = resolve(driver, address, bytes, false, &device);
    if (!to || !device)
      return refuse(driver, work, "write", address, bytes);
    device->memory->markWritten(address, bytes);
    switch (fill.elementSize) {
    case 1:
      memset(to, static_cast<int>(fill.value), fill.width);
      break;
    case 2:
      std::fill_n(reinterpret_cast<uint16_t *>(to), fill.width, static_cast<uint16_t>(fill.value));
      break;
    default:
      std::fill_n(reinterpret_cast<uint32_t *>(to), fill.width, fill.value);
    }
  }
  return {};
}

} // namespace tenon::emulator
