// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program on a device: a list of functions.
#include "python/native/functions/function.h"
#include "python/native/object/device.h"
#include "python/native/object/text.h"

namespace tenon::python {

namespace {

struct Program {
  Ref device;
  tenon_program_t *handle = nullptr;

  Program() = default;
  Program(Program &&other) noexcept : device(std::move(other.device)), handle(std::exchange(other.handle, nullptr)) {}
  ~Program() { tenon_program_release(handle); }
};

/// Program(device, path, data, images, variant): a file's path, or with `data` its bytes.
PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *) {
  PyObject *device = nullptr, *name = nullptr, *data = Py_None; // the name as files have it, in bytes
  const char *variant = nullptr;
  int images = 0;
  if (!PyArg_ParseTuple(arguments, "OO&|Oiz:Program", &device, PyUnicode_FSConverter, &name, &data, &images, &variant))
    return nullptr;
  const Ref kept(name);
  const char *path = PyBytes_AsString(name);
  if (!asDevice(device))
    return nullptr;
  tenon_image_options_t options = {};
  options.struct_size = sizeof(options);
  options.images = static_cast<tenon_images_t>(images);
  options.variant = variant;
  Program program;
  program.device = Ref::share(device);
  tenon_device_t *handle = asDevice(device)->handle;
  tenon_status_t *status = nullptr;
  if (data == Py_None) {
    status = tenon_program_open_with_options(handle, path, &options, &program.handle);
  } else {
    char *bytes = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(data, &bytes, &size) < 0)
      return nullptr;
    status =
        tenon_program_create_with_options(handle, bytes, static_cast<size_t>(size), path, &options, &program.handle);
  }
  return check(status) ? makeObject(type, std::move(program)) : nullptr;
}

PyObject *functions(PyObject *self, PyObject *) {
  const Program &program = valueOf<Program>(self);
  const size_t count = tenon_program_function_count(program.handle);
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; list && i < count; ++i) {
    PyObject *function = makeFunction(self, program.handle, program.device.get(), static_cast<uint32_t>(i));
    if (!function || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), function) < 0)
      return nullptr;
  }
  return list.release();
}

PyObject *explain(PyObject *self, PyObject *) {
  std::string text;
  if (!check(tenon_program_explain(valueOf<Program>(self).handle, appendText, &text)))
    return nullptr;
  return textObject(text);
}

PyMethodDef methods[] = {
    {"functions", method(functions), METH_NOARGS, "Every function, in the order of the file."},
    {"explain", method(explain), METH_NOARGS, "Which image each kernel runs from, and why."},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("A .tenon file on a device; tenon.load makes one.")},
    {Py_tp_new, slot(create)},
    {Py_tp_dealloc, slot(deleteObject<Program>)},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec spec = {"tenon._core.native.Program", sizeof(Object<Program>), 0, Py_TPFLAGS_DEFAULT, slots};

} // namespace

bool addProgram(PyObject *module) {
  return addType(module, spec) != nullptr;
}

} // namespace tenon::python
