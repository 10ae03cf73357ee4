// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of a .tnx file on a device.
#include "python/native/kernels/kernel.h"
#include "python/native/object/device.h"
#include "python/native/object/text.h"

namespace tenon::python {

namespace {

struct Executable {
  Ref device;
  tenon_executable_t *handle = nullptr;

  Executable() = default;
  Executable(Executable &&other) noexcept
      : device(std::move(other.device)), handle(std::exchange(other.handle, nullptr)) {}
  ~Executable() { tenon_executable_release(handle); }
};

/// Executable(device, path, images, variant)
PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *) {
  PyObject *device = nullptr, *name = nullptr; // the name as files have it, in bytes
  const char *variant = nullptr;
  int images = 0;
  if (!PyArg_ParseTuple(arguments, "OO&|iz:Executable", &device, PyUnicode_FSConverter, &name, &images, &variant))
    return nullptr;
  const Ref kept(name);
  const char *path = PyBytes_AsString(name);
  if (!asDevice(device))
    return nullptr;
  tenon_image_options_t options = {};
  options.struct_size = sizeof(options);
  options.images = static_cast<tenon_images_t>(images);
  options.variant = variant;
  Executable executable;
  executable.device = Ref::share(device);
  if (!check(tenon_executable_open_with_options(asDevice(device)->handle, path, &options, &executable.handle)))
    return nullptr;
  return makeObject(type, std::move(executable));
}

PyObject *names(PyObject *self, PyObject *) {
  const Executable &executable = valueOf<Executable>(self);
  Ref list(PyList_New(0));
  for (uint32_t i = 0; list && i < tenon_executable_export_count(executable.handle); ++i) {
    tenon_export_info_t info = {};
    info.struct_size = sizeof(info);
    Ref name(check(tenon_executable_export_info(executable.handle, i, &info)) ? PyUnicode_FromString(info.name)
                                                                              : nullptr);
    if (!name || PyList_Append(list.get(), name.get()) < 0)
      return nullptr;
  }
  return list.release();
}

PyObject *kernel(PyObject *self, PyObject *arguments) {
  const char *name = nullptr;
  PyObject *elements = Py_None, *maps = Py_None;
  if (!PyArg_ParseTuple(arguments, "s|OO:kernel", &name, &elements, &maps))
    return nullptr;
  const Executable &executable = valueOf<Executable>(self);
  uint32_t ordinal = 0;
  if (!check(tenon_executable_find_export(executable.handle, name, &ordinal)))
    return nullptr;
  return makeKernel(self, executable.handle, executable.device.get(), ordinal, elements, maps);
}

PyObject *explain(PyObject *self, PyObject *) {
  std::string text;
  if (!check(tenon_executable_explain(valueOf<Executable>(self).handle, appendText, &text)))
    return nullptr;
  return textObject(text);
}

PyMethodDef methods[] = {
    {"names", method(names), METH_NOARGS, "Of the exports, in the order of the file."},
    {"kernel", method(kernel), METH_VARARGS, "kernel(name, elements=None, maps=None): an export as a callable."},
    {"explain", method(explain), METH_NOARGS, "Which image each export runs from, and why."},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("A .tnx file on a device; tenon.load_kernels makes one.")},
    {Py_tp_new, slot(create)},
    {Py_tp_dealloc, slot(deleteObject<Executable>)},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec spec = {"tenon._core.native.Executable", sizeof(Object<Executable>), 0, Py_TPFLAGS_DEFAULT, slots};

} // namespace

bool addExecutable(PyObject *module) {
  return addType(module, spec) != nullptr;
}

} // namespace tenon::python
