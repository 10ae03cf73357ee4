// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/arrays/library.h"

#include "python/native/arrays/array.h"

#include <string_view>
#include <vector>

namespace tenon::python {
namespace {

Family familyOf(PyTypeObject *type) {
  Ref order = attributeOrNull(reinterpret_cast<PyObject *>(type), "__mro__");
  for (Py_ssize_t i = 0; order && i < PyTuple_Size(order.get()); ++i) {
    Ref module = attributeOrNull(PyTuple_GetItem(order.get(), i), "__module__");
    const char *name = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : "";
    const std::string_view text(name ? name : "");
    const std::string_view root = text.substr(0, text.find('.'));
    if (root == "torch")
      return Family::Torch;
    if (root == "numpy")
      return Family::NumPy;
    if (root == "cupy")
      return Family::CuPy;
    if (root == "jax" || root == "jaxlib")
      return Family::Jax;
  }
  PyErr_Clear();
  return Family::Other;
}

/// Of NumPy's numbers, which have no place of their own.
bool isNumPyScalar(PyTypeObject *type) {
  Ref order = attributeOrNull(reinterpret_cast<PyObject *>(type), "__mro__");
  for (Py_ssize_t i = 0; order && i < PyTuple_Size(order.get()); ++i) {
    PyObject *base = PyTuple_GetItem(order.get(), i);
    Ref module = attributeOrNull(base, "__module__"), name = attributeOrNull(base, "__name__");
    if (module && name && PyUnicode_Check(module.get()) && PyUnicode_Check(name.get()) &&
        PyUnicode_CompareWithASCIIString(module.get(), "numpy") == 0 &&
        PyUnicode_CompareWithASCIIString(name.get(), "generic") == 0)
      return true;
  }
  PyErr_Clear();
  return false;
}

/// Of numpy.ma: what is masked has no value, and a kernel would read one.
bool isMasked(PyTypeObject *type) {
  Ref order = attributeOrNull(reinterpret_cast<PyObject *>(type), "__mro__");
  for (Py_ssize_t i = 0; order && i < PyTuple_Size(order.get()); ++i) {
    Ref module = attributeOrNull(PyTuple_GetItem(order.get(), i), "__module__");
    const char *name = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : "";
    if (const std::string_view text(name ? name : ""); text == "numpy.ma" || text.starts_with("numpy.ma."))
      return true;
  }
  PyErr_Clear();
  return false;
}

/// The type's table of C functions, of a version whose tensors are the same; null: it has none.
const ExchangeApi *exchangeApiOf(PyTypeObject *type) {
  auto *object = reinterpret_cast<PyObject *>(type);
  const ExchangeApi *api = nullptr;
  if (Ref capsule = attributeOrNull(object, "__dlpack_c_exchange_api__"))
    api = static_cast<const ExchangeApi *>(PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
  else if (Ref number = attributeOrNull(object, "__c_dlpack_exchange_api__")) // an earlier spelling
    api = static_cast<const ExchangeApi *>(PyLong_AsVoidPtr(number.get()));
  PyErr_Clear();
  while (api && api->version.major > 1)
    api = api->previous;
  const bool isWhole = api && api->version.major == 1 && api->allocate && api->objectFromManaged &&
                       api->viewFromObject && api->currentStream;
  return isWhole ? api : nullptr;
}

Library inspect(PyTypeObject *type) {
  Library found = {type, Library::Kind::None, Family::Other, false, nullptr};
  auto *object = reinterpret_cast<PyObject *>(type);
  if (type == arrayType) {
    found.kind = Library::Kind::Own;
    found.family = Family::Tenon;
    return found;
  }
  // Numbers that look like arrays of no dimension are numbers.
  if (PyType_IsSubtype(type, &PyFloat_Type) || PyType_IsSubtype(type, &PyLong_Type))
    return found;
  found.family = familyOf(type);
  found.isScalar = found.family == Family::NumPy && isNumPyScalar(type);
  const auto has = [&](const char *name) { return bool(attributeOrNull(object, name)); };
  if (found.family == Family::NumPy && isMasked(type))
    found.kind = Library::Kind::Masked;
  else if ((found.api = exchangeApiOf(type)))
    found.kind = Library::Kind::Exchange;
  else if (has("__array_struct__") && found.family == Family::NumPy)
    found.kind = Library::Kind::NumPy;
  else if (found.family == Family::CuPy && has("data") && has("dtype") && has("_c_contiguous"))
    found.kind = Library::Kind::CuPy;
  else if (has("__cuda_array_interface__") && found.family != Family::Jax)
    found.kind = Library::Kind::Interface;
  else if (has("__dlpack__"))
    found.kind = Library::Kind::Dlpack;
  else if (has("__array_struct__"))
    found.kind = Library::Kind::NumPy;
  return found;
}

} // namespace

const Library &libraryOf(PyObject *object) {
  // A handful of types, each found out once; under the interpreter's lock.
  static std::vector<Library *> known;
  PyTypeObject *type = Py_TYPE(object);
  for (const Library *library : known)
    if (library->type == type)
      return *library;
  static Library none = {nullptr, Library::Kind::None, Family::Other, false, nullptr};
  Library found = inspect(type);
  PyErr_Clear();
  if (found.kind == Library::Kind::None)
    return none; // types come and go: only those of arrays are kept
  Py_INCREF(type);
  known.push_back(new Library(found));
  return *known.back();
}

} // namespace tenon::python
