// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon.Device: a GPU or the emulator.
#pragma once

#include "python/native/object/object.h"

namespace tenon::python {

struct Device {
  tenon_device_t *handle = nullptr;
  tenon_device_info_t info = {};
  int ordinal = 0;

  Device() = default;
  Device(Device &&other) noexcept
      : handle(std::exchange(other.handle, nullptr)), info(other.info), ordinal(other.ordinal) {}
  ~Device() { tenon_device_release(handle); }
};

extern PyTypeObject *deviceType;
bool addDevice(PyObject *module);
/// TypeError: no device.
Device *asDevice(PyObject *object);

} // namespace tenon::python
