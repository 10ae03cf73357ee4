// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the extension share: CPython's API in its stable part, references that release themselves, and
// statuses of the C API as exceptions. A function that fails leaves an exception set and returns null, false or -1, as
// CPython's own do.
#pragma once

#include <Python.h>
#include <new>
#include <tenon/runtime.h>
#include <utility>

namespace tenon::python {

/// A reference that is released.
class Ref {
public:
  Ref() = default;
  explicit Ref(PyObject *owned) : object_(owned) {}
  Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref &operator=(Ref &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  static Ref share(PyObject *borrowed) {
    Py_XINCREF(borrowed);
    return Ref(borrowed);
  }

  PyObject *get() const { return object_; }
  PyObject *release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

private:
  PyObject *object_ = nullptr;
};

/// Sets tenon.Error with the status's text and code, and takes the status over. True: there was none.
bool check(tenon_status_t *status);
/// Sets tenon.Error of a code.
PyObject *raise(tenon_status_code_t code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// The class tenon.Error.
extern PyObject *errorType;

/// A heap type made from a spec, added to the module under its name. Null: an exception is set.
PyTypeObject *addType(PyObject *module, PyType_Spec &spec);

/// A Python object around a C++ value; the value's destructor runs when nobody has the object.
template <typename T> struct Object {
  PyObject_HEAD T value;
};
template <typename T> T &valueOf(PyObject *object) {
  return reinterpret_cast<Object<T> *>(object)->value;
}
template <typename T> PyObject *makeObject(PyTypeObject *type, T value) {
  PyObject *made = PyType_GenericAlloc(type, 0);
  if (made)
    new (&valueOf<T>(made)) T(std::move(value));
  return made;
}
template <typename T> void deleteObject(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  valueOf<T>(object).~T();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}
/// A function of any signature as a slot's or a method's.
template <typename Function> void *slot(Function *function) {
  return reinterpret_cast<void *>(function);
}
template <typename Function> PyCFunction method(Function *function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// The value of an attribute, or null without an exception where there is none.
Ref attributeOrNull(PyObject *object, const char *name);

/// Calls a function of tenon._interop, the part of the package that knows other libraries. Takes `arguments` over,
/// which may be null with an exception set.
PyObject *interopCall(const char *name, PyObject *arguments);

/// The interpreter's lock is given back for a scope in which nothing of Python is touched.
class Unlocked {
public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;

private:
  PyThreadState *state_;
};

} // namespace tenon::python
