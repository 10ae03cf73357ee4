// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/arrays/array.h"

#include "python/native/arrays/view.h"
#include "python/native/object/elements.h"
#include "python/native/object/interrupt.h"

namespace tenon::python {

PyTypeObject *arrayType = nullptr;

PyObject *shapeTuple(const int64_t *shape, size_t rank) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(rank)));
  for (size_t i = 0; tuple && i < rank; ++i)
    if (PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i])) < 0)
      return nullptr;
  return tuple.release();
}

PyObject *arrayOfResult(PyObject *device, const tenon_value_t &value, PyObject *base) {
  Array made;
  made.device = Ref::share(device);
  made.element = value.element;
  made.shape.assign(value.shape, value.shape + value.rank);
  made.base = Ref::share(base);
  if (!check(tenon_buffer_retain(value.buffer, &made.buffer)))
    return nullptr;
  return makeObject(arrayType, std::move(made));
}

namespace {

namespace dlpack = runtime::dlpack;

const Device &deviceOf(const Array &array) {
  return valueOf<Device>(array.device.get());
}

uint64_t bytesOf(const Array &array) {
  uint64_t bytes = byteSize(array.element);
  for (int64_t extent : array.shape)
    bytes *= static_cast<uint64_t>(extent);
  return bytes;
}

PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *) {
  PyObject *device = nullptr, *shape = nullptr;
  const char *name = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOs:Array", &device, &shape, &name) || !asDevice(device))
    return nullptr;
  Array made;
  made.device = Ref::share(device);
  if (!elementNamed(name, &made.element))
    return PyErr_Format(PyExc_TypeError,
                        "'%s' is no element type: expected bool, int8 to int64, float16, bfloat16, "
                        "float32 or float64",
                        name);
  Ref extents(PyNumber_Check(shape) ? PyTuple_Pack(1, shape) : PySequence_Tuple(shape));
  uint64_t bytes = byteSize(made.element);
  for (Py_ssize_t i = 0; extents && i < PyTuple_Size(extents.get()); ++i) {
    made.shape.push_back(PyLong_AsLongLong(PyTuple_GetItem(extents.get(), i)));
    if (PyErr_Occurred())
      return nullptr;
    if (made.shape.back() < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(made.shape.back()), &bytes))
      return raise(TENON_OUT_OF_RANGE, "an array of %lld elements along dimension %zd",
                   static_cast<long long>(made.shape.back()), i);
  }
  if (!extents || !check(tenon_buffer_allocate(deviceOf(made).handle, bytes, nullptr, &made.buffer)))
    return nullptr;
  return makeObject(type, std::move(made));
}

/// A view of host memory that has this array's elements and shape.
bool readLike(const Array &array, PyObject *object, View &out) {
  if (!readView(object, libraryOf(object), out))
    return false;
  const bool hasElements = canHold(out.element, array.element);
  const bool hasShape = static_cast<size_t>(out.rank) == array.shape.size() &&
                        std::equal(array.shape.begin(), array.shape.end(), out.shape);
  if (out.isHost && hasElements && hasShape)
    return true;
  Ref given(shapeTuple(out.shape, static_cast<size_t>(out.rank)));
  Ref wanted(shapeTuple(array.shape.data(), array.shape.size()));
  if (given && wanted)
    PyErr_Format(PyExc_ValueError, "an array of %s %R in %s memory; wanted: %s %R in the host's", nameOf(out.element),
                 given.get(), out.isHost ? "the host's" : "a GPU's", nameOf(array.element), wanted.get());
  return false;
}

PyObject *writeFrom(PyObject *self, PyObject *source) {
  const Array &array = *asArray(self);
  View view;
  if (!readLike(array, source, view) ||
      !check(tenon_buffer_write(array.buffer, 0, reinterpret_cast<const void *>(view.address), view.bytes)))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject *readInto(PyObject *self, PyObject *target) {
  const Array &array = *asArray(self);
  View view;
  if (!readLike(array, target, view))
    return nullptr;
  if (view.isReadOnly)
    return PyErr_Format(PyExc_ValueError, "the array is read only");
  tenon_status_t *status = nullptr;
  {
    Unlocked unlocked;
    status = tenon_buffer_read(array.buffer, 0, reinterpret_cast<void *>(view.address), view.bytes);
  }
  if (!check(status))
    return nullptr;
  Py_RETURN_NONE;
}

bool waitForContents(const Array &array) {
  tenon_status_t *status = nullptr;
  {
    Unlocked unlocked;
    status = tenon_device_wait(deviceOf(array).handle);
  }
  return checkWait(status);
}

// ---- DLPack ----

/// The older struct around a newer one.
struct Unversioned {
  dlpack::Managed managed;
  dlpack::ManagedVersioned *versioned;
};

/// Gives back what the consumer did not take, which would have renamed the capsule.
void dropVersioned(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned"))
    return;
  auto *managed = static_cast<dlpack::ManagedVersioned *>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
  managed->deleter(managed);
}
void dropUnversioned(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    return;
  auto *managed = static_cast<dlpack::Managed *>(PyCapsule_GetPointer(capsule, "dltensor"));
  managed->deleter(managed);
}

/// An export that keeps the array itself, since its memory may be that of `base`.
struct Kept {
  dlpack::ManagedVersioned managed;
  dlpack::ManagedVersioned *inner;
  PyObject *array;
};

dlpack::ManagedVersioned *exportKept(PyObject *self) {
  const Array &array = *asArray(self);
  const tenon_value_t value = tenon_value_tensor(array.buffer, array.element, array.shape.data(), array.shape.size());
  DLManagedTensorVersioned *made = nullptr;
  if (!check(tenon_dlpack_export(&value, &made)))
    return nullptr;
  auto *inner = reinterpret_cast<dlpack::ManagedVersioned *>(made);
  if (!array.base)
    return inner;
  Py_INCREF(self);
  auto *kept = new Kept{*inner, inner, self};
  kept->managed.context = kept;
  kept->managed.deleter = [](dlpack::ManagedVersioned *managed) {
    auto *whole = static_cast<Kept *>(managed->context);
    whole->inner->deleter(whole->inner);
    const PyGILState_STATE state = PyGILState_Ensure(); // a consumer may be anywhere
    Py_DECREF(whole->array);
    PyGILState_Release(state);
    delete whole;
  };
  return &kept->managed;
}

PyObject *dlpackDevice(PyObject *self, PyObject *) {
  const Device &device = deviceOf(*asArray(self));
  return device.info.is_emulator ? Py_BuildValue("(ii)", int(dlpack::kCpu), 0)
                                 : Py_BuildValue("(ii)", int(dlpack::kCuda), device.ordinal);
}

PyObject *exportDlpack(PyObject *self, PyObject *arguments, PyObject *keywords) {
  const char *names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__", const_cast<char **>(names), &stream,
                                   &version, &device, &copy))
    return nullptr;
  if (copy == Py_True)
    return PyErr_Format(PyExc_BufferError, "a tenon.Array is exported without a copy");
  Ref own(device == Py_None ? nullptr : dlpackDevice(self, nullptr));
  const int isElsewhere = own ? PyObject_RichCompareBool(own.get(), device, Py_NE) : 0;
  if (isElsewhere < 0 || (device != Py_None && !own))
    return nullptr;
  if (isElsewhere)
    return PyErr_Format(PyExc_BufferError, "a tenon.Array on DLPack's device %R is not copied to %R", own.get(),
                        device);
  // What is on the device's own stream is complete before another stream may read it.
  if (!waitForContents(*asArray(self)))
    return nullptr;
  dlpack::ManagedVersioned *managed = exportKept(self);
  if (!managed)
    return nullptr;
  Ref major(PyTuple_Check(version) && PyTuple_Size(version) == 2 ? Ref::share(PyTuple_GetItem(version, 0)) : Ref());
  if (major && PyLong_AsLong(major.get()) >= 1) {
    PyObject *capsule = PyCapsule_New(managed, "dltensor_versioned", dropVersioned);
    if (!capsule)
      managed->deleter(managed);
    return capsule;
  }
  auto *older = new Unversioned{{managed->tensor, nullptr, nullptr}, managed};
  older->managed.context = older;
  older->managed.deleter = [](dlpack::Managed *given) {
    auto *whole = static_cast<Unversioned *>(given->context);
    whole->versioned->deleter(whole->versioned);
    delete whole;
  };
  PyObject *capsule = PyCapsule_New(&older->managed, "dltensor", dropUnversioned);
  if (!capsule)
    older->managed.deleter(&older->managed);
  return capsule;
}

// ---- NumPy's and Numba's dictionaries ----

uint64_t hostAddressOf(const Array &array) {
  return reinterpret_cast<uint64_t>(tenon_buffer_host_address(array.buffer));
}

PyObject *interface(PyObject *self, bool isHost) {
  const Array &array = *asArray(self);
  if (deviceOf(array).info.is_emulator != isHost)
    return PyErr_Format(PyExc_AttributeError, "%s: the array is in %s memory",
                        isHost ? "__array_interface__" : "__cuda_array_interface__", isHost ? "a GPU's" : "the host's");
  const char *type = typeStringOf(array.element);
  if (!type)
    return PyErr_Format(PyExc_AttributeError, "bfloat16 has no name there: use DLPack");
  if (!waitForContents(array))
    return nullptr;
  return Py_BuildValue("{s:i,s:N,s:s,s:(KO),s:O}", "version", 3, "shape",
                       shapeTuple(array.shape.data(), array.shape.size()), "typestr", type, "data",
                       isHost ? static_cast<unsigned long long>(hostAddressOf(array))
                              : static_cast<unsigned long long>(tenon_buffer_address(array.buffer)),
                       Py_False, "strides", Py_None);
}
PyObject *arrayInterface(PyObject *self, void *) {
  return interface(self, true);
}
PyObject *cudaArrayInterface(PyObject *self, void *) {
  return interface(self, false);
}

PyObject *shape(PyObject *self, void *) {
  return shapeTuple(asArray(self)->shape.data(), asArray(self)->shape.size());
}
PyObject *dtype(PyObject *self, void *) {
  return PyUnicode_FromString(nameOf(asArray(self)->element));
}
PyObject *address(PyObject *self, void *) {
  return PyLong_FromUnsignedLongLong(tenon_buffer_address(asArray(self)->buffer));
}
PyObject *hostAddress(PyObject *self, void *) {
  const uint64_t host = hostAddressOf(*asArray(self));
  return host ? PyLong_FromUnsignedLongLong(host) : Ref::share(Py_None).release();
}
PyObject *nbytes(PyObject *self, void *) {
  return PyLong_FromUnsignedLongLong(bytesOf(*asArray(self)));
}
PyObject *device(PyObject *self, void *) {
  return Ref::share(asArray(self)->device.get()).release();
}
PyObject *represent(PyObject *self) {
  Ref extents(shape(self, nullptr));
  return extents ? PyUnicode_FromFormat("<tenon.Array %s %R on %s>", nameOf(asArray(self)->element), extents.get(),
                                        deviceOf(*asArray(self)).info.name)
                 : nullptr;
}

PyObject *numpy(PyObject *self, PyObject *) {
  return interopCall("to_numpy", Py_BuildValue("(O)", self));
}

PyMethodDef methods[] = {
    {"numpy", method(numpy), METH_NOARGS, "As a NumPy array: without a copy on the emulator, copied from a GPU."},
    {"__dlpack__", method(exportDlpack), METH_VARARGS | METH_KEYWORDS, "DLPack's export, without a copy."},
    {"__dlpack_device__", method(dlpackDevice), METH_NOARGS, "(type, number) as DLPack counts devices."},
    {"write_from", method(writeFrom), METH_O, "Copies a host array of the same shape to the device."},
    {"read_into", method(readInto), METH_O, "Copies into a host array of the same shape."},
    {},
};
PyGetSetDef properties[] = {
    {"shape", shape, nullptr, "Extents, outermost first.", nullptr},
    {"dtype", dtype, nullptr, "'float32'", nullptr},
    {"address", address, nullptr, "Of the first element, as the device sees it.", nullptr},
    {"host_address", hostAddress, nullptr, "Where the host may read and write it; None: on a GPU.", nullptr},
    {"nbytes", nbytes, nullptr, "Of all elements.", nullptr},
    {"device", device, nullptr, "The tenon.Device whose memory it is.", nullptr},
    {"__array_interface__", arrayInterface, nullptr, "NumPy's, on the emulator.", nullptr},
    {"__cuda_array_interface__", cudaArrayInterface, nullptr, "Numba's, on a GPU.", nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("Array(device, shape, dtype)\n--\n\nA dense tensor in memory of Tenon's; its contents "
                        "are undefined until they are written.")},
    {Py_tp_new, slot(create)},
    {Py_tp_dealloc, slot(deleteObject<Array>)},
    {Py_tp_repr, slot(represent)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, nullptr},
};
PyType_Spec spec = {"tenon._core.native.Array", sizeof(Object<Array>), 0, Py_TPFLAGS_DEFAULT, slots};

} // namespace

bool addArray(PyObject *module) {
  return (arrayType = addType(module, spec)) != nullptr;
}

} // namespace tenon::python
