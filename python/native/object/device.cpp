// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/object/device.h"

#include "python/native/object/interrupt.h"

#include <cstdlib>
#include <string_view>

namespace tenon::python {

PyTypeObject *deviceType = nullptr;

Device *asDevice(PyObject *object) {
  if (Py_TYPE(object) == deviceType)
    return &valueOf<Device>(object);
  PyErr_Format(PyExc_TypeError, "expected a tenon.Device, got %R", reinterpret_cast<PyObject *>(Py_TYPE(object)));
  return nullptr;
}

namespace {

PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *) {
  const char *name = "";
  if (!PyArg_ParseTuple(arguments, "|s:Device", &name))
    return nullptr;
  Device device;
  {
    tenon_status_t *status = nullptr;
    {
      Unlocked unlocked; // a driver takes its time
      status = tenon_device_open_default(name, &device.handle);
    }
    if (!check(status))
      return nullptr;
  }
  device.info.struct_size = sizeof(device.info);
  if (!check(tenon_device_info(device.handle, &device.info)))
    return nullptr;
  if (device.info.is_emulator)
    endLaunchesOnInterrupt(device.handle);
  const std::string_view text(name);
  if (const size_t colon = text.rfind(':'); colon != std::string_view::npos)
    device.ordinal = std::atoi(name + colon + 1 + (text.substr(colon).starts_with("://") ? 2 : 0));
  return makeObject(type, std::move(device));
}

PyObject *wait(PyObject *self, PyObject *) {
  tenon_status_t *status = nullptr;
  {
    Unlocked unlocked;
    status = tenon_device_wait(valueOf<Device>(self).handle);
  }
  if (!checkWait(status))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject *statistics(PyObject *self, PyObject *) {
  tenon_statistics_t counts = {};
  counts.struct_size = sizeof(counts);
  if (!check(tenon_device_statistics(valueOf<Device>(self).handle, &counts)))
    return nullptr;
  return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsK}", "allocations", counts.allocations, "frees", counts.frees, "bytes_live",
                       counts.bytes_live, "bytes_peak", counts.bytes_peak, "launches", counts.launches,
                       "modules_loaded", counts.modules_loaded, "jit_compilations", counts.jit_compilations,
                       "jit_cache_hits", counts.jit_cache_hits, "graphs_instantiated", counts.graphs_instantiated,
                       "graph_nodes_patched", counts.graph_nodes_patched);
}

PyObject *name(PyObject *self, void *) {
  return PyUnicode_FromString(valueOf<Device>(self).info.name);
}
PyObject *computeCapability(PyObject *self, void *) {
  const uint32_t number = valueOf<Device>(self).info.compute_capability;
  return Py_BuildValue("(II)", number / 10, number % 10);
}
PyObject *driverVersion(PyObject *self, void *) {
  const uint32_t number = valueOf<Device>(self).info.driver_version;
  return Py_BuildValue("(II)", number / 1000, number % 1000 / 10);
}
PyObject *memoryBytes(PyObject *self, void *) {
  return PyLong_FromUnsignedLongLong(valueOf<Device>(self).info.memory_bytes);
}
PyObject *isEmulator(PyObject *self, void *) {
  return PyBool_FromLong(valueOf<Device>(self).info.is_emulator);
}
PyObject *ordinal(PyObject *self, void *) {
  return PyLong_FromLong(valueOf<Device>(self).ordinal);
}
PyObject *represent(PyObject *self) {
  const Device &device = valueOf<Device>(self);
  return PyUnicode_FromFormat("<tenon.Device '%s' sm_%u, driver %u.%u>", device.info.name,
                              device.info.compute_capability, device.info.driver_version / 1000,
                              device.info.driver_version % 1000 / 10);
}

PyObject *traceBegin(PyObject *self, PyObject *) {
  return check(tenon_device_trace_begin(valueOf<Device>(self).handle)) ? Ref::share(Py_None).release() : nullptr;
}
PyObject *traceWrite(PyObject *self, PyObject *path) {
  const char *text = PyUnicode_AsUTF8AndSize(path, nullptr);
  if (!text || !check(tenon_device_trace_write(valueOf<Device>(self).handle, text)))
    return nullptr;
  Py_RETURN_NONE;
}
PyObject *traceEnd(PyObject *self, PyObject *) {
  return check(tenon_device_trace_end(valueOf<Device>(self).handle)) ? Ref::share(Py_None).release() : nullptr;
}

PyMethodDef methods[] = {
    {"trace_begin", method(traceBegin), METH_NOARGS, "Records calls and commands from now on; tenon.trace uses it."},
    {"trace_write", method(traceWrite), METH_O, "Writes what was recorded, a file for Perfetto."},
    {"trace_end", method(traceEnd), METH_NOARGS, "Records no more."},
    {"wait", method(wait), METH_NOARGS, "Waits for what was given to the device's own stream."},
    {"statistics", method(statistics), METH_NOARGS, "Counts since the device was opened, as a dict."},
    {},
};
PyGetSetDef properties[] = {
    {"name", name, nullptr, "What the driver calls it.", nullptr},
    {"compute_capability", computeCapability, nullptr, "(9, 0)", nullptr},
    {"driver_version", driverVersion, nullptr, "(13, 0)", nullptr},
    {"memory_bytes", memoryBytes, nullptr, "Of the whole device.", nullptr},
    {"is_emulator", isEmulator, nullptr, "It runs kernels on the CPU: times mean nothing.", nullptr},
    {"ordinal", ordinal, nullptr, "CUDA's number of it.", nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("Device(name='')\n--\n\nA GPU if there is one, else the emulator; or 'cuda', 'cuda:1', "
                        "'emulator'.")},
    {Py_tp_new, slot(create)},
    {Py_tp_dealloc, slot(deleteObject<Device>)},
    {Py_tp_repr, slot(represent)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, nullptr},
};
PyType_Spec spec = {"tenon._core.native.Device", sizeof(Object<Device>), 0, Py_TPFLAGS_DEFAULT, slots};

} // namespace

bool addDevice(PyObject *module) {
  return (deviceType = addType(module, spec)) != nullptr;
}

} // namespace tenon::python
