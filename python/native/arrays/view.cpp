// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/arrays/view.h"

#include "python/native/arrays/array.h"
#include "python/native/arrays/cupy.h"
#include "python/native/arrays/view_parts.h"
#include "python/native/object/elements.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::python {

// ---- What all of them have (view_parts.h) ----

bool notDense(const char *what) {
  PyErr_Format(PyExc_ValueError,
               "%s is not dense in row-major order: make it contiguous first (numpy.ascontiguousarray, "
               "Tensor.contiguous(), cupy.ascontiguousarray)",
               what);
  return false;
}

bool countBytes(View &out) {
  uint64_t bytes = byteSize(out.element);
  for (int32_t i = 0; i < out.rank; ++i)
    if (out.shape[i] < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(out.shape[i]), &bytes)) {
      raise(TENON_OUT_OF_RANGE, "an array of %lld elements along dimension %d", static_cast<long long>(out.shape[i]),
            i);
      return false;
    }
  out.bytes = bytes;
  return true;
}

int64_t *extentsFor(View &out, Py_ssize_t rank) {
  if (rank > View::kMostDimensions) {
    raise(TENON_UNIMPLEMENTED, "an array of rank %zd, at most %d is possible", rank, View::kMostDimensions);
    return nullptr;
  }
  out.rank = static_cast<int32_t>(rank);
  int64_t *extents = out.extents;
  if (rank > std::ssize(out.extents)) {
    Ref bytes(PyBytes_FromStringAndSize(nullptr, rank * static_cast<Py_ssize_t>(sizeof(int64_t))));
    Ref both(bytes ? PyTuple_Pack(2, bytes.get(), out.keeper ? out.keeper.get() : Py_None) : nullptr);
    if (!both)
      return nullptr;
    extents = reinterpret_cast<int64_t *>(PyBytes_AsString(bytes.get()));
    out.keeper = std::move(both);
  }
  out.shape = extents;
  return extents;
}

bool unknownElements(PyObject *object) {
  Ref type = attributeOrNull(object, "dtype");
  PyErr_Format(PyExc_TypeError,
               "an array of %S: supported are bool, 8 to 64 bit integers, float16, bfloat16, float32 and "
               "float64 in the machine's byte order; convert it (astype), or pass complex numbers as pairs (view)",
               type ? type.get() : object);
  return false;
}

namespace {

namespace dlpack = runtime::dlpack;

// ---- Strides ----

template <typename Stride> bool isDense(const View &view, const Stride *strides, int64_t unit) {
  if (!strides || view.bytes == 0)
    return true;
  int64_t expected = unit;
  for (int32_t i = view.rank; i-- > 0;) {
    if (view.shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= view.shape[i];
  }
  return true;
}

// ---- DLPack ----

bool takeTensor(const dlpack::TensorView &tensor, View &out) {
  static constexpr struct {
    uint8_t code;
    char kind;
  } kKinds[] = {
      {dlpack::kInt, 'i'}, {dlpack::kUInt, 'u'}, {dlpack::kFloat, 'f'}, {dlpack::kBfloat, 'B'}, {dlpack::kBool, 'b'}};
  char kind = 0;
  for (const auto &row : kKinds)
    if (row.code == tensor.type.code)
      kind = row.kind;
  if (!kind || tensor.type.lanes != 1 || tensor.type.bits % 8 != 0 ||
      !elementOf(kind, tensor.type.bits / 8, &out.element)) {
    PyErr_Format(PyExc_TypeError,
                 "elements of DLPack's type code %d with %d bits: supported are bool, 8 to 64 bit integers, "
                 "float16, bfloat16, float32 and float64",
                 int(tensor.type.code), int(tensor.type.bits));
    return false;
  }
  out.rank = tensor.rank;
  out.shape = tensor.shape;
  out.address = reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
  const int32_t place = tensor.device.type;
  out.isHost = place == dlpack::kCpu || place == dlpack::kCudaHost;
  if (!out.isHost && place != dlpack::kCuda && place != dlpack::kCudaManaged) {
    raise(TENON_UNIMPLEMENTED, "memory of DLPack's device type %d: supported are CPU (1) and CUDA (2, 3, 13)",
          int(place));
    return false;
  }
  out.device = out.isHost ? 0 : tensor.device.id;
  return countBytes(out) && (isDense(out, tensor.strides, 1) || notDense("the tensor"));
}

bool readExchange(PyObject *object, const ExchangeApi &api, View &out) {
  dlpack::TensorView tensor;
  if (api.viewFromObject(object, &tensor) != 0)
    return false;
  if (!takeTensor(tensor, out))
    return false;
  if (!out.isHost) {
    if (api.currentStream(dlpack::kCuda, out.device, &out.stream) != 0)
      return false;
    out.hasStream = true;
  }
  return true;
}

bool readDlpack(PyObject *object, View &out) {
  Ref method(PyObject_GetAttrString(object, "__dlpack__"));
  Ref none(method ? PyTuple_New(0) : nullptr);
  Ref version(none ? Py_BuildValue("{s(ii)}", "max_version", 1, 0) : nullptr);
  if (!version)
    return false;
  // Older producers know no versions.
  Ref capsule(PyObject_Call(method.get(), none.get(), version.get()));
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = Ref(PyObject_CallNoArgs(method.get()));
  }
  if (!capsule)
    return false;
  // The capsule stays unused: it releases the tensor when the view goes.
  const dlpack::TensorView *tensor = nullptr;
  if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned")) {
    auto *managed = static_cast<dlpack::ManagedVersioned *>(PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
    if (managed->version.major != dlpack::kVersion.major) {
      raise(TENON_UNIMPLEMENTED, "a tensor of DLPack %u, supported is %u", managed->version.major,
            dlpack::kVersion.major);
      return false;
    }
    tensor = &managed->tensor;
    out.isReadOnly = (managed->flags & dlpack::kReadOnly) != 0;
  } else if (PyCapsule_IsValid(capsule.get(), "dltensor")) {
    tensor = &static_cast<dlpack::Managed *>(PyCapsule_GetPointer(capsule.get(), "dltensor"))->tensor;
  } else {
    PyErr_SetString(PyExc_TypeError, "__dlpack__() gave no DLPack capsule");
    return false;
  }
  out.keeper = std::move(capsule);
  return takeTensor(*tensor, out);
}

// ---- NumPy ----

/// The C struct behind `__array_struct__` (NumPy's manual, "The array interface protocol").
struct ArrayInterface {
  int two;
  int rank;
  char kind;
  int itemBytes;
  int flags;
  Py_ssize_t *shape, *strides; // strides in bytes
  void *data;
  PyObject *description;
};
constexpr int kNotSwapped = 0x200, kWriteable = 0x400;

bool isBfloat(PyObject *object) {
  Ref type = attributeOrNull(object, "dtype");
  Ref name = type ? attributeOrNull(type.get(), "name") : Ref();
  return name && PyUnicode_CompareWithASCIIString(name.get(), "bfloat16") == 0;
}

bool readNumPy(PyObject *object, View &out) {
  out.keeper = Ref(PyObject_GetAttrString(object, "__array_struct__"));
  const auto *array =
      out.keeper ? static_cast<ArrayInterface *>(PyCapsule_GetPointer(out.keeper.get(), nullptr)) : nullptr;
  if (!array)
    return false;
  char kind = array->kind;
  if (kind == 'V' && isBfloat(object))
    kind = 'B';
  if (!(array->flags & kNotSwapped) || !elementOf(kind, static_cast<uint64_t>(array->itemBytes), &out.element))
    return unknownElements(object);
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  out.rank = array->rank;
  out.shape = reinterpret_cast<const int64_t *>(array->shape);
  out.address = reinterpret_cast<uint64_t>(array->data);
  out.isHost = true;
  out.isReadOnly = !(array->flags & kWriteable);
  return countBytes(out) && (isDense(out, array->strides, array->itemBytes) || notDense("the array"));
}

// ---- __cuda_array_interface__ ----

/// An entry of the dictionary, borrowed; null: there is none, or it is None.
PyObject *entry(PyObject *dictionary, const char *name) {
  PyObject *found = PyDict_GetItemString(dictionary, name);
  return found == Py_None ? nullptr : found;
}

bool readInterface(PyObject *object, View &out) {
  Ref interface(PyObject_GetAttrString(object, "__cuda_array_interface__"));
  if (!interface)
    return false;
  PyObject *shape = PyDict_Check(interface.get()) ? entry(interface.get(), "shape") : nullptr;
  PyObject *data = shape ? entry(interface.get(), "data") : nullptr;
  PyObject *type = data ? entry(interface.get(), "typestr") : nullptr;
  const char *text = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, nullptr) : nullptr;
  if (!text || !PyTuple_Check(shape) || !PyTuple_Check(data) || PyTuple_Size(data) != 2) {
    PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ has no shape, data and typestr");
    return false;
  }
  if (entry(interface.get(), "mask")) {
    PyErr_SetString(PyExc_TypeError, "its __cuda_array_interface__ has a mask, which a kernel would not see");
    return false;
  }
  char kind = text[0] ? text[1] : 0;
  if (kind == 'V' && isBfloat(object))
    kind = 'B';
  if (text[0] == '>' || !kind || !elementOf(kind, static_cast<uint64_t>(std::atoi(text + 2)), &out.element))
    return unknownElements(object);
  int64_t *extents = extentsFor(out, PyTuple_Size(shape));
  if (!extents)
    return false;
  for (int32_t i = 0; i < out.rank; ++i)
    extents[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
  out.address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
  out.isReadOnly = PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;
  if (PyErr_Occurred() || !countBytes(out))
    return false;
  if (PyObject *strides = entry(interface.get(), "strides")) {
    std::vector<int64_t> given;
    for (Py_ssize_t i = 0; PyTuple_Check(strides) && i < PyTuple_Size(strides); ++i)
      given.push_back(PyLong_AsLongLong(PyTuple_GetItem(strides, i)));
    if (PyErr_Occurred())
      return false;
    if (std::ssize(given) != out.rank || !isDense(out, given.data(), static_cast<int64_t>(byteSize(out.element))))
      return notDense("the array");
  }
  // The stream on which its contents are ready: 1 and 2 are the default ones, as the driver numbers them, too.
  if (PyObject *stream = entry(interface.get(), "stream")) {
    out.stream = PyLong_AsVoidPtr(stream);
    if (PyErr_Occurred())
      return false;
    out.hasStream = true;
  }
  // An interface names no device: that of the address is the driver's to say, and most processes have one.
  out.device = -1;
  if (Ref device = attributeOrNull(object, "device"))
    if (Ref id = attributeOrNull(device.get(), "id"); id && PyLong_Check(id.get()))
      out.device = static_cast<int32_t>(PyLong_AsLong(id.get()));
  return true;
}

// ---- tenon.Array ----

bool readOwn(PyObject *object, View &out) {
  const Array &array = *asArray(object);
  out.rank = static_cast<int32_t>(array.shape.size());
  out.shape = array.shape.data();
  out.address = tenon_buffer_address(array.buffer);
  out.element = array.element;
  out.device = -1;
  out.buffer = array.buffer;
  return countBytes(out);
}

} // namespace

/// How the objects of its type are read.
static bool readByKind(PyObject *object, const Library &library, View &out, bool wantsStream) {
  out.library = &library;
  out.object = object;
  out.isHost = out.isReadOnly = out.hasStream = false;
  out.device = 0;
  out.stream = nullptr;
  out.buffer = nullptr;
  switch (library.kind) {
  case Library::Kind::Exchange:
    return readExchange(object, *library.api, out);
  case Library::Kind::Own:
    return readOwn(object, out);
  case Library::Kind::NumPy:
    return readNumPy(object, out);
  case Library::Kind::CuPy:
    return readCuPy(object, out, wantsStream);
  case Library::Kind::Interface:
    return readInterface(object, out);
  case Library::Kind::Dlpack:
    return readDlpack(object, out);
  case Library::Kind::Masked:
    PyErr_SetString(PyExc_TypeError,
                    "it is a masked array, whose mask a kernel would not see: pass x.filled(0), or x.data");
    return false;
  case Library::Kind::None:
    if (attributeOrNull(object, "__cuda_array_interface__")) // of the object itself, not of its type
      return readInterface(object, out);
    break;
  }
  PyErr_Format(PyExc_TypeError,
               "%R is no array: expected one of NumPy, PyTorch, CuPy, JAX, or any with __dlpack__ or "
               "__cuda_array_interface__; numpy.asarray(values, numpy.float32) makes one",
               reinterpret_cast<PyObject *>(Py_TYPE(object)));
  return false;
}

bool readView(PyObject *object, const Library &library, View &out, bool wantsStream) {
  if (!readByKind(object, library, out, wantsStream))
    return false;
  out.isReadOnly |= library.isScalar;
  // A kernel that reads it would fail, and nothing runs in the process after that.
  const uint64_t size = byteSize(out.element);
  if (out.bytes == 0 || out.address % size == 0)
    return true;
  PyErr_Format(PyExc_ValueError,
               "the array begins at an address that is no multiple of the %d bytes of its elements, "
               "which are %s: copy it first (x.copy(), Tensor.clone())",
               int(size), nameOf(out.element));
  return false;
}

bool readStream(PyObject *object, void **out) {
  Ref number;
  if (PyLong_Check(object))
    number = Ref::share(object);
  else if (Ref protocol = attributeOrNull(object, "__cuda_stream__")) {
    Ref pair(PyCallable_Check(protocol.get()) ? PyObject_CallNoArgs(protocol.get()) : protocol.release());
    if (pair && PyTuple_Check(pair.get()) && PyTuple_Size(pair.get()) == 2)
      number = Ref::share(PyTuple_GetItem(pair.get(), 1));
  } else if (Ref handle = attributeOrNull(object, "cuda_stream")) {
    number = std::move(handle);
  } else {
    number = attributeOrNull(object, "ptr");
  }
  if (!number || !PyLong_Check(number.get())) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError, "stream: expected an integer (a CUstream), a torch.cuda.Stream, a "
                                       "cupy.cuda.Stream or an object with __cuda_stream__");
    return false;
  }
  *out = PyLong_AsVoidPtr(number.get());
  return !PyErr_Occurred();
}

} // namespace tenon::python
