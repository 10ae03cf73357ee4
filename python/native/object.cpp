// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/object.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace tenon::python {

PyObject *errorType = nullptr;

static void setError(tenon_status_code_t code, const char *message) {
  Ref text(PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace"));
  Ref made(text ? PyObject_CallFunctionObjArgs(errorType, text.get(), nullptr) : nullptr);
  if (!made)
    return;
  Ref name(PyUnicode_FromString(tenon_status_code_name(code)));
  if (name && PyObject_SetAttrString(made.get(), "code", name.get()) == 0)
    PyErr_SetObject(errorType, made.get());
}

bool check(tenon_status_t *status) {
  if (!status)
    return true;
  setError(tenon_status_code(status), tenon_status_message(status));
  tenon_status_release(status);
  return false;
}

PyObject *raise(tenon_status_code_t code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  va_end(arguments);
  setError(code, text.c_str());
  return nullptr;
}

PyTypeObject *addType(PyObject *module, PyType_Spec &spec) {
  Ref type(PyType_FromModuleAndSpec(module, &spec, nullptr));
  if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type.get())) < 0)
    return nullptr;
  return reinterpret_cast<PyTypeObject *>(type.release()); // lives as long as the process
}

Ref attributeOrNull(PyObject *object, const char *name) {
  Ref found(PyObject_GetAttrString(object, name));
  if (!found)
    PyErr_Clear();
  return found;
}

PyObject *interopCall(const char *name, PyObject *arguments) {
  Ref given(arguments);
  Ref module(given ? PyImport_ImportModule("tenon._interop") : nullptr);
  Ref function(module ? PyObject_GetAttrString(module.get(), name) : nullptr);
  return function ? PyObject_CallObject(function.get(), given.get()) : nullptr;
}

} // namespace tenon::python
