// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/kernels/launch.h"

#include "python/native/arrays/array.h"
#include "python/native/object/elements.h"
#include "python/native/object/interrupt.h"

#include <cstring>

namespace tenon::python {

bool Launch::readBinding(const Parameter &parameter, PyObject *argument) {
  View &view = *nextView_++;
  const Library &library = libraryOf(argument);
  if (!readView(argument, library, view, !hasStream_))
    return false;
  const Device &device = kernel_.deviceValue();
  if (parameter.hasElement && parameter.element != view.element) {
    PyErr_Format(PyExc_TypeError, "its elements are %s, the kernel takes %s: convert it first (astype, Tensor.to)",
                 nameOf(view.element), nameOf(parameter.element));
    return false;
  }
  tenon_memory_range_t &range = ranges_[parameter.slot.index];
  range = {view.address, view.bytes};
  if (view.isHost)
    return staging_.place(view, !parameter.slot.read_only, &range.address);
  if (view.isReadOnly && !parameter.slot.read_only) {
    PyErr_SetString(PyExc_ValueError, "the array is read only, and the kernel writes it");
    return false;
  }
  if (device.info.is_emulator && !view.buffer) {
    raise(TENON_FAILED_PRECONDITION, "it is in a GPU's memory, the kernel is on the emulator");
    return false;
  }
  if (view.device >= 0 && view.device != device.ordinal) {
    raise(TENON_FAILED_PRECONDITION, "it is on CUDA device %d, the kernel is loaded on device %d", int(view.device),
          device.ordinal);
    return false;
  }
  hasDeviceArray_ = true;
  if (view.hasStream) {
    if (!hasStream_)
      stream_ =
          view.stream ? view.stream : reinterpret_cast<void *>(1); // 0 is the legacy default stream: CU_STREAM_LEGACY
    hasStream_ = true;
  } else if (library.kind == Library::Kind::Dlpack) {
    Ref ready(PyObject_CallMethod(argument, "block_until_ready", nullptr));
    return bool(ready);
  }
  return true;
}

bool Launch::readStruct(const Parameter &parameter, PyObject *argument, uint64_t *words) {
  Ref bytes(PyBytes_FromObject(argument));
  char *data = nullptr;
  Py_ssize_t size = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &data, &size) < 0)
    return false;
  if (size != static_cast<Py_ssize_t>(parameter.slot.size)) {
    PyErr_Format(PyExc_ValueError, "it has %zd bytes, the struct %u", size, parameter.slot.size);
    return false;
  }
  std::memset(words, 0, parameter.slot.word_count * sizeof(uint64_t));
  std::memcpy(words, data, static_cast<size_t>(size));
  return true;
}

/// A tensor map that the runtime encodes: the extents of its tensor, or an array that has them.
bool Launch::readExtents(const Parameter &parameter, PyObject *argument, uint64_t *words) {
  Ref shape(PyTuple_Check(argument) || PyList_Check(argument) ? Ref::share(argument).release()
                                                              : PyObject_GetAttrString(argument, "shape"));
  Ref extents(shape ? PySequence_Tuple(shape.get()) : nullptr);
  if (!extents)
    return false;
  if (PyTuple_Size(extents.get()) != parameter.slot.word_count) {
    PyErr_Format(PyExc_ValueError, "%zd extents, the tensor map has %u", PyTuple_Size(extents.get()),
                 parameter.slot.word_count);
    return false;
  }
  for (uint32_t i = 0; i < parameter.slot.word_count; ++i)
    words[i] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(extents.get(), i));
  return !PyErr_Occurred();
}

bool Launch::readConstant(const Parameter &parameter, PyObject *argument) {
  uint64_t *words = words_ + parameter.slot.first_word;
  int64_t bits = 0;
  switch (parameter.slot.constant_kind) {
  case TENON_CONSTANT_WORD:
    if (!scalarBits(argument, PyFloat_Check(argument) ? TENON_F32 : TENON_I32, &bits))
      return false;
    *words = static_cast<uint64_t>(bits);
    return true;
  case TENON_CONSTANT_SCALAR:
    if (!scalarBits(argument, parameter.slot.element, &bits))
      return false;
    *words = static_cast<uint64_t>(bits);
    if (parameter.slot.element == TENON_I1) // a kernel's bool is 0 or 1
      *words &= 1;
    return true;
  case TENON_CONSTANT_STRUCT:
    return readStruct(parameter, argument, words);
  case TENON_CONSTANT_TENSOR_MAP:
    return parameter.slot.word_count == 16 && PyBytes_Check(argument) ? readStruct(parameter, argument, words)
                                                                      : readExtents(parameter, argument, words);
  }
  return false;
}

bool Launch::readOne(const Parameter &parameter, PyObject *argument) {
  return parameter.slot.kind == TENON_SLOT_BINDING ? readBinding(parameter, argument)
                                                   : readConstant(parameter, argument);
}

/// The extents of tensor maps that nobody passes, from the arrays that were read.
bool Launch::fillMaps(const View *views) {
  for (const Parameter &map : kernel_.parameters) {
    if (map.isPassed())
      continue;
    const auto begin = kernel_.parameters.begin(), array = begin + *map.mappedFrom;
    const View &view =
        views[std::count_if(begin, array, [](const Parameter &one) { return one.slot.kind == TENON_SLOT_BINDING; })];
    if (view.rank != static_cast<int32_t>(map.slot.word_count)) {
      PyErr_Format(PyExc_ValueError, "argument %u, %s of kernel '%s': it has %d dimensions, its tensor map %u",
                   *map.mappedFrom, array->name.c_str(), kernel_.info.name, int(view.rank), map.slot.word_count);
      return false;
    }
    std::copy(view.shape, view.shape + view.rank, words_ + map.slot.first_word);
  }
  return true;
}

bool Launch::read(PyObject *arguments) {
  const auto count = static_cast<size_t>(PyTuple_Size(arguments));
  if (count != kernel_.passed()) {
    std::string wanted;
    for (const Parameter &parameter : kernel_.parameters)
      if (parameter.isPassed())
        wanted += (wanted.empty() ? "" : ", ") + (parameter.name.empty() ? "?" : parameter.name);
    PyErr_Format(PyExc_TypeError, "kernel '%s' takes %zu arguments (%s), %zu were given", kernel_.info.name,
                 kernel_.passed(), wanted.c_str(), count);
    return false;
  }
  if (kernel_.info.binding_count > kInlined) {
    moreViews_.resize(kernel_.info.binding_count);
    nextView_ = moreViews_.data();
    moreRanges_.resize(kernel_.info.binding_count);
    ranges_ = moreRanges_.data();
  }
  if (kernel_.info.constant_word_count > 4 * kInlined) {
    moreWords_.resize(kernel_.info.constant_word_count);
    words_ = moreWords_.data();
  }
  const View *views = nextView_;
  size_t i = 0;
  for (const Parameter &parameter : kernel_.parameters) {
    if (!parameter.isPassed())
      continue;
    if (readOne(parameter, PyTuple_GetItem(arguments, static_cast<Py_ssize_t>(i)))) {
      ++i;
      continue;
    }
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Ref text(value ? PyObject_Str(value) : nullptr);
    Ref named(text ? PyUnicode_FromFormat("argument %zu%s%s of kernel '%s': %U", i, parameter.name.empty() ? "" : ", ",
                                          parameter.name.c_str(), kernel_.info.name, text.get())
                   : nullptr);
    Ref packed(named ? PyTuple_Pack(1, named.get()) : nullptr);
    if (packed)
      PyObject_SetAttrString(value, "args", packed.get());
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return false;
  }
  return fillMaps(views);
}

bool Launch::pack(PyObject *values, std::vector<uint64_t> &words) {
  words_ = words.data();
  Py_ssize_t next = 0;
  for (const Parameter &parameter : kernel_.parameters) {
    if (parameter.slot.kind == TENON_SLOT_BINDING)
      continue;
    PyObject *value = next < PyTuple_Size(values) ? PyTuple_GetItem(values, next) : nullptr;
    if (value && !readConstant(parameter, value))
      return false;
    ++next;
  }
  if (next == PyTuple_Size(values))
    return true;
  PyErr_Format(PyExc_TypeError, "kernel '%s' has %zd constants, %zd were given", kernel_.info.name, next,
               PyTuple_Size(values));
  return false;
}

bool Launch::setStream(PyObject *stream) {
  if (stream == Py_None)
    return true;
  hasStream_ = true;
  if (!readStream(stream, &stream_))
    return false;
  if (!stream_)
    stream_ = reinterpret_cast<void *>(1);
  return true;
}

bool Launch::run(const uint32_t grid[3]) {
  if (!staging_.isEmpty() && hasStream_) {
    raise(TENON_INVALID_ARGUMENT,
          "kernel '%s' was given arrays of the host's memory and of a GPU's, or a stream: pass "
          "all of them in one place",
          kernel_.info.name);
    return false;
  }
  const auto launch = [&] {
    return tenon_executable_launch_ranges(kernel_.handle, kernel_.ordinal, grid, ranges_, kernel_.info.binding_count,
                                          words_, kernel_.info.constant_word_count, hasStream_ ? stream_ : nullptr);
  };
  // A GPU is given its work and that is all; to the emulator a launch may be the kernel's whole run.
  const bool takesLong = kernel_.deviceValue().info.is_emulator;
  tenon_status_t *status = takesLong ? nullptr : launch();
  if (!status && (takesLong || !hasStream_)) { // nobody else waits for the device's own stream
    Unlocked unlocked;
    if (takesLong)
      status = launch();
    if (!status && !hasStream_)
      status = tenon_device_wait(kernel_.deviceValue().handle);
    if (!status && !hasStream_)
      status = staging_.finish();
  }
  return checkWait(status);
}

} // namespace tenon::python
