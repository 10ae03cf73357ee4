// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/object/object.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

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
  static std::vector<std::pair<const char *, PyObject *>> known; // by the literal's address; they stay
  Ref given(arguments);
  if (!given)
    return nullptr;
  for (const auto &row : known)
    if (row.first == name)
      return PyObject_CallObject(row.second, given.get());
  Ref module(PyImport_ImportModule("tenon._interop"));
  Ref function(module ? PyObject_GetAttrString(module.get(), name) : nullptr);
  if (!function)
    return nullptr;
  known.emplace_back(name, function.release());
  return PyObject_CallObject(known.back().second, given.get());
}

} // namespace tenon::python
