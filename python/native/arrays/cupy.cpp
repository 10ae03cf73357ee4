// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/arrays/cupy.h"

#include "python/native/arrays/array.h"
#include "python/native/arrays/view_parts.h"
#include "python/native/object/elements.h"

#include <string_view>
#include <utility>
#include <vector>

namespace tenon::python {

namespace {

/// An attribute by a name that is made once.
struct Name {
  explicit Name(const char *text) : object(PyUnicode_InternFromString(text)) {}
  PyObject *object;
};
Ref get(PyObject *object, const Name &name) {
  return Ref(PyObject_GetAttr(object, name.object));
}

/// An attribute of a module, found once.
PyObject *imported(PyObject *&known, const char *module, const char *name) {
  if (!known) {
    Ref found(PyImport_ImportModule(module));
    known = found ? PyObject_GetAttrString(found.get(), name) : nullptr;
  }
  return known;
}

/// The element of a NumPy dtype; those of plain elements exist once, so their addresses are remembered.
bool elementOfType(PyObject *type, tenon_element_type_t *out) {
  static std::vector<std::pair<PyObject *, tenon_element_type_t>> known;
  for (const auto &row : known)
    if (row.first == type) {
      *out = row.second;
      return true;
    }
  Ref name = attributeOrNull(type, "name");
  Ref isNative = attributeOrNull(type, "isnative");
  const char *text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  std::string_view spelled(text ? text : "");
  if (spelled.starts_with("uint"))
    spelled.remove_prefix(1);
  if (!isNative || PyObject_IsTrue(isNative.get()) != 1 || !elementNamed(spelled, out))
    return false;
  if (known.size() < 64)
    known.emplace_back(Ref::share(type).release(), *out);
  return true;
}

bool readCuPyStream(View &out) {
  static PyObject *known = nullptr;
  static const Name ptr("ptr");
  PyObject *current = imported(known, "cupy.cuda", "get_current_stream");
  Ref stream(current ? PyObject_CallNoArgs(current) : nullptr);
  Ref number(stream ? get(stream.get(), ptr) : Ref());
  if (!number)
    return false;
  out.stream = PyLong_AsVoidPtr(number.get());
  out.hasStream = true;
  return !PyErr_Occurred();
}

/// NumPy's dtype of an element, made once. Null without an exception: CuPy has none.
PyObject *typeOf(tenon_element_type_t element) {
  static PyObject *made[TENON_INDEX + 1] = {}, *maker = nullptr;
  if (element == TENON_BF16 || made[element])
    return made[element];
  if (imported(maker, "cupy", "dtype"))
    made[element] = PyObject_CallFunction(maker, "s", nameOf(element));
  return made[element];
}

} // namespace

bool readCuPy(PyObject *object, View &out, bool wantsStream) {
  static const Name data("data"), ptr("ptr"), deviceId("device_id"), dtype("dtype"), dense("_c_contiguous"),
      shape("shape");
  Ref memory = get(object, data);
  Ref address(memory ? get(memory.get(), ptr) : Ref());
  Ref device(address ? get(memory.get(), deviceId) : Ref());
  Ref type(device ? get(object, dtype) : Ref());
  Ref isDense(type ? get(object, dense) : Ref());
  Ref extents(isDense ? get(object, shape) : Ref());
  if (!extents)
    return false;
  if (!elementOfType(type.get(), &out.element))
    return unknownElements(object);
  int64_t *into = PyTuple_Check(extents.get()) ? extentsFor(out, PyTuple_Size(extents.get())) : nullptr;
  if (!into)
    return false;
  for (int32_t i = 0; i < out.rank; ++i)
    into[i] = PyLong_AsLongLong(PyTuple_GetItem(extents.get(), i));
  out.address = PyLong_AsUnsignedLongLong(address.get());
  out.device = static_cast<int32_t>(PyLong_AsLong(device.get()));
  if (PyErr_Occurred() || !countBytes(out))
    return false;
  if (isDense.get() != Py_True && out.bytes != 0)
    return notDense("the array");
  return !wantsStream || readCuPyStream(out);
}

PyObject *makeCuPy(const tenon_value_t &type, int ordinal, uint64_t *address) {
  static const Name data("data"), ptr("ptr"), deviceId("device_id");
  static PyObject *array = nullptr;
  PyObject *elements = typeOf(type.element);
  if (!elements || !imported(array, "cupy", "ndarray"))
    return nullptr;
  Ref shape(shapeTuple(type.shape, type.rank));
  Ref made(shape ? PyObject_CallFunctionObjArgs(array, shape.get(), elements, nullptr) : nullptr);
  Ref memory(made ? get(made.get(), data) : Ref());
  Ref device(memory ? get(memory.get(), deviceId) : Ref());
  Ref where(device ? get(memory.get(), ptr) : Ref());
  if (!where || PyLong_AsLong(device.get()) != ordinal)
    return nullptr;
  *address = PyLong_AsUnsignedLongLong(where.get());
  return made.release();
}

} // namespace tenon::python
