// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way in: arguments are read in place (view.h), and the work goes to the caller's stream.
#include "python/native/functions/function_call.h"

#include "python/native/object/elements.h"
#include "python/native/object/interrupt.h"

#include <algorithm>

namespace tenon::python {

namespace {

/// "argument 1 of 'scale'" before what went wrong with it; `kind` is "argument" or "out".
void nameArgument(const Function &function, const char *kind, size_t index) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Ref text(value ? PyObject_Str(value) : nullptr);
  Ref named(text ? PyUnicode_FromFormat("%s %zu of '%s': %U", kind, index, function.info.name, text.get()) : nullptr);
  Ref arguments(named ? PyTuple_Pack(1, named.get()) : nullptr);
  if (arguments)
    PyObject_SetAttrString(value, "args", arguments.get());
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
}

} // namespace

bool Call::checkDevice(size_t index, const View &view) {
  const Device &device = function_.deviceValue();
  if (view.isHost)
    return true;
  if (device.info.is_emulator && !view.buffer) {
    raise(TENON_FAILED_PRECONDITION, "it is in a GPU's memory, the program is on the emulator: load it with "
                                     "device='cuda', or pass host arrays");
    return false;
  }
  if (view.device >= 0 && view.device != device.ordinal) {
    raise(TENON_FAILED_PRECONDITION,
          "it is on CUDA device %d, the program is on device %d: load it with "
          "device='cuda:%d'",
          int(view.device), device.ordinal, int(view.device));
    return false;
  }
  return true;
}

/// A donated input is written. One that cannot be is copied, unless to write it is what the function is for.
bool Call::checkWritable(size_t index, const Library &library, View &view) {
  // Arrays of JAX do not change.
  view.isReadOnly |= library.family == Family::Jax;
  if (!view.isReadOnly)
    return true;
  keepsInputs_ = true;
  if (!function_.inputs[index].isUpdated)
    return true;
  PyErr_SetString(PyExc_ValueError, "the array is read only, and the function assigns to it");
  return false;
}

bool Call::readTensor(size_t index, PyObject *argument, tenon_value_t &value) {
  View &view = views_[viewCount_];
  const Library &library = libraryOf(argument);
  const bool isDonated = function_.inputs[index].isDonated;
  if (!readView(argument, library, view, !hasStream_) || !checkDevice(index, view) ||
      (isDonated && !checkWritable(index, library, view)))
    return false;
  ++viewCount_;
  if (!style_ || (style_->family == Family::Tenon && library.family != Family::Tenon)) {
    style_ = &library;
    isStyleHost_ = view.isHost;
  }
  if (view.isHost) {
    hasHost_ = true;
    if (!staging_.place(view, isDonated && !view.isReadOnly, &view.address))
      return false;
  } else if (view.hasStream && !hasStream_) {
    hasStream_ = true;
    stream_ = view.stream;
  } else if (library.kind == Library::Kind::Dlpack) {
    // It names no stream: its contents are waited for.
    Ref ready(PyObject_CallMethod(argument, "block_until_ready", nullptr));
    if (!ready)
      return false;
  }
  value.struct_size = sizeof(value);
  // Integers have no sign in a program, and an index is 64 bits wide.
  value.element =
      function_.inputs[index].element == TENON_INDEX && view.element == TENON_I64 ? TENON_INDEX : view.element;
  value.buffer = nullptr;
  value.shape = view.shape;
  value.rank = static_cast<size_t>(view.rank);
  value.scalar_bits = 0;
  value.address = view.address;
  // What is empty lies nowhere, and is a tensor all the same.
  value.bytes = view.bytes;
  if (value.bytes == 0)
    value.address = 256;
  return true;
}

bool Call::readArguments() {
  const auto count = static_cast<size_t>(PyTuple_Size(arguments_));
  if (count != function_.inputs.size()) // the library says what it takes
    return check(tenon_program_call(function_.handle, function_.index, values_, count, &results_));
  if (count > kInlined) {
    more_.resize(count);
    views_ = more_.data();
    moreValues_.resize(count);
    values_ = moreValues_.data();
  }
  for (size_t i = 0; i < count; ++i) {
    PyObject *argument = PyTuple_GetItem(arguments_, static_cast<Py_ssize_t>(i));
    bool isRead = true;
    if (function_.inputs[i].isUnread) {
      values_[i] = tenon_value_of(TENON_I64, 0); // whatever was given
    } else if (function_.inputs[i].isScalar) {
      int64_t bits = 0;
      isRead = scalarBits(argument, function_.inputs[i].element, &bits);
      values_[i] = tenon_value_of(function_.inputs[i].element, bits);
    } else {
      isRead = readTensor(i, argument, values_[i]);
    }
    if (!isRead) {
      nameArgument(function_, "argument", i);
      return false;
    }
  }
  return true;
}

bool Call::readOut(PyObject *out) {
  outObjects_ = Ref(PyTuple_Check(out) || PyList_Check(out) ? PySequence_Tuple(out) : PyTuple_Pack(1, out));
  if (!outObjects_)
    return false;
  const auto count = static_cast<size_t>(PyTuple_Size(outObjects_.get()));
  const auto wanted = static_cast<size_t>(std::count_if(function_.results.begin(), function_.results.end(),
                                                        [](const Type &type) { return !type.isScalar; }));
  if (count != wanted) {
    PyErr_Format(PyExc_ValueError, "out: %zu given, '%s' returns %zu tensors", count, function_.info.name, wanted);
    return false;
  }
  out_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject *object = PyTuple_GetItem(outObjects_.get(), static_cast<Py_ssize_t>(i));
    bool isRead = readView(object, libraryOf(object), out_[i]) && checkDevice(i, out_[i]);
    if (isRead && out_[i].isHost) {
      hasHost_ = true;
      isRead = staging_.place(out_[i], /*isWritten=*/true, &out_[i].address);
    } else if (isRead && out_[i].isReadOnly) {
      PyErr_SetString(PyExc_ValueError, "the array is read only, and the function writes it");
      isRead = false;
    }
    if (!isRead) {
      nameArgument(function_, "out", i);
      return false;
    }
  }
  return true;
}

/// Before anything is read: who passes arrays by name is told so, and not that there are none.
bool Call::checkNames(PyObject *keywords) {
  Py_ssize_t at = 0;
  PyObject *name = nullptr, *value = nullptr;
  while (keywords && PyDict_Next(keywords, &at, &name, &value))
    if (PyUnicode_CompareWithASCIIString(name, "stream") != 0 && PyUnicode_CompareWithASCIIString(name, "out") != 0 &&
        PyUnicode_CompareWithASCIIString(name, "keep") != 0) {
      PyErr_Format(PyExc_TypeError,
                   "'%s' takes 'stream', 'out' and 'keep' by name, not '%U': arguments stand in their order",
                   function_.info.name, name);
      return false;
    }
  return true;
}

bool Call::readOptions(PyObject *keywords) {
  if (!keywords)
    return true;
  Py_ssize_t at = 0;
  PyObject *name = nullptr, *value = nullptr;
  while (PyDict_Next(keywords, &at, &name, &value)) {
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
      if (value != Py_None && !readStream(value, &stream_))
        return false;
      hasStream_ |= value != Py_None;
    } else if (PyUnicode_CompareWithASCIIString(name, "keep") == 0) {
      const int keeps = PyObject_IsTrue(value);
      if (keeps < 0)
        return false;
      keepsInputs_ |= keeps != 0;
    } else if (value != Py_None && !readOut(value)) {
      return false;
    }
  }
  return true;
}

bool Call::run() {
  tenon_call_options_t options = {};
  options.struct_size = sizeof(options);
  const bool isOwnStream = hasHost_ || !hasStream_;
  const bool canAllocate = style_ && (style_->kind == Library::Kind::Exchange || style_->family == Family::CuPy);
  if (hasHost_ && hasStream_) {
    raise(TENON_INVALID_ARGUMENT,
          "'%s' was given arrays of the host's memory and of a GPU's, or a stream: pass all of "
          "them in one place",
          function_.info.name);
    return false;
  }
  options.on_stream = !isOwnStream;
  options.stream = isOwnStream ? nullptr : stream_;
  options.result_user = this;
  const bool isAllocated = !isOwnStream && canAllocate && !isStyleHost_;
  if (!out_.empty() || isAllocated)
    options.result_memory = resultMemory;
  options.copies_results = !out_.empty();
  options.keeps_inputs = keepsInputs_;
  tenon_status_t *status = nullptr;
  if (isOwnStream) {
    // What the caller's library has in flight on its stream is not ordered with the device's own; the caller chose it.
    Unlocked unlocked;
    status = tenon_program_call_again(function_.handle, function_.index, values_, function_.inputs.size(), &options,
                                      &results_);
    if (!status)
      status = staging_.finish();
  } else {
    isReused_ = options.result_memory && !function_.info.runs_on_host;
    if (isReused_)
      std::swap(results_, function_.reused);
    status = tenon_program_call_again(function_.handle, function_.index, values_, function_.inputs.size(), &options,
                                      &results_);
  }
  if (wrongOut_ != kNone) {
    tenon_status_release(status);
    Ref shape(shapeTuple(wantedOut_.data(), wantedOut_.size()));
    Ref given(shapeTuple(out_[wrongOut_].shape, static_cast<size_t>(out_[wrongOut_].rank)));
    PyErr_Format(PyExc_ValueError, "out: array %zu of '%s' is %s %R, the result is %s %R", wrongOut_,
                 function_.info.name, nameOf(out_[wrongOut_].element), given.get(), nameOf(wantedOutElement_),
                 shape.get());
    return false;
  }
  if (PyErr_Occurred()) { // an allocator's: it says more
    tenon_status_release(status);
    return false;
  }
  return checkWait(status);
}

} // namespace tenon::python
