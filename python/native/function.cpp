// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of a program as a callable. What is known of it is read once; a call reads its arguments in place
// (view.h), gives the work to the caller's stream and hands results over in the caller's library:
//
//   CUDA arrays of PyTorch or CuPy   on that library's current stream, returns at once; results come from its allocator
//   other CUDA arrays                on the device's own stream, complete when the call returns
//   host arrays                      likewise; where they are on the emulator, copied to and from a GPU
#include "python/native/function.h"

#include "python/native/array.h"
#include "python/native/cupy.h"
#include "python/native/elements.h"
#include "python/native/staging.h"
#include "python/native/view.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace tenon::python {

namespace {

PyTypeObject *functionType = nullptr;

struct Type {
  tenon_element_type_t element;
  bool isScalar;
  size_t rank;
  const int64_t *shape; // the program's
};

struct Function {
  Ref program, device;
  tenon_program_t *handle = nullptr;
  uint32_t index = 0;
  tenon_function_info_t info = {};
  std::vector<Type> inputs, results;
  tenon_results_t *reused = nullptr; // by calls that return at once, under the interpreter's lock

  Function() = default;
  Function(Function &&other) noexcept
      : program(std::move(other.program)), device(std::move(other.device)), handle(other.handle), index(other.index),
        info(other.info), inputs(std::move(other.inputs)), results(std::move(other.results)),
        reused(std::exchange(other.reused, nullptr)) {}
  ~Function() { tenon_results_release(reused); }
  const Device &deviceValue() const { return valueOf<Device>(device.get()); }
};

/// "argument 1 of 'scale'" before what went wrong with it.
void nameArgument(const Function &function, size_t index) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Ref text(value ? PyObject_Str(value) : nullptr);
  Ref named(text ? PyUnicode_FromFormat("argument %zu of '%s': %U", index, function.info.name, text.get()) : nullptr);
  Ref arguments(named ? PyTuple_Pack(1, named.get()) : nullptr);
  if (arguments)
    PyObject_SetAttrString(value, "args", arguments.get());
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
}

/// One call, from its arguments to its results. Lives on the stack.
class Call {
public:
  Call(Function &function, PyObject *arguments)
      : function_(function), arguments_(arguments), staging_(function.deviceValue()) {}
  ~Call() {
    for (size_t i = 0; i < produced_.size(); ++i) {
      if (produced_[i].managed)
        produced_[i].managed->deleter(produced_[i].managed);
      Py_XDECREF(produced_[i].object);
    }
    if (isReused_ && !function_.reused)
      function_.reused = results_;
    else
      tenon_results_release(results_);
  }

  bool readArguments();
  bool readOptions(PyObject *keywords);
  bool run();
  PyObject *takeResults();

private:
  static constexpr size_t kInlined = 8;
  struct Produced { // a result's memory, from the caller's library
    runtime::dlpack::ManagedVersioned *managed = nullptr;
    PyObject *object = nullptr;
  };
  bool readTensor(size_t index, PyObject *argument, tenon_value_t &value);
  bool checkDevice(size_t index, const View &view);
  bool readOut(PyObject *out);
  static uint64_t resultMemory(void *user, size_t index, const tenon_value_t *type, uint64_t bytes);
  uint64_t allocate(size_t index, const tenon_value_t &type, uint64_t bytes);
  PyObject *takeTensor(size_t index, const tenon_value_t &value);
  static uint64_t addressOf(PyObject *made); // 0 and an exception: it is none

  Function &function_;
  PyObject *arguments_; // a tuple, borrowed
  Staging staging_;
  View inlined_[kInlined];
  std::vector<View> more_;
  View *views_ = inlined_;
  size_t viewCount_ = 0;
  tenon_value_t inlinedValues_[kInlined];
  std::vector<tenon_value_t> moreValues_;
  tenon_value_t *values_ = inlinedValues_;
  const Library *style_ = nullptr; // of the first array: what results become
  bool isStyleHost_ = false;
  bool hasStream_ = false, hasHost_ = false;
  void *stream_ = nullptr;
  static constexpr size_t kNone = ~size_t(0);
  size_t wrongOut_ = kNone; // among out_
  std::vector<int64_t> wantedOut_;
  tenon_element_type_t wantedOutElement_ = TENON_F32;
  std::vector<View> out_;
  Ref outObjects_;
  std::vector<Produced> produced_;
  tenon_results_t *results_ = nullptr;
  bool isReused_ = false;
};

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

bool Call::readTensor(size_t index, PyObject *argument, tenon_value_t &value) {
  View &view = views_[viewCount_];
  const Library &library = libraryOf(argument);
  if (!readView(argument, library, view, !hasStream_) || !checkDevice(index, view))
    return false;
  ++viewCount_;
  if (!style_ || (style_->family == Family::Tenon && library.family != Family::Tenon)) {
    style_ = &library;
    isStyleHost_ = view.isHost;
  }
  if (view.isHost) {
    hasHost_ = true;
    if (!staging_.place(view, /*isWritten=*/false, &view.address))
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
    if (function_.inputs[i].isScalar) {
      int64_t bits = 0;
      isRead = scalarBits(argument, function_.inputs[i].element, &bits);
      values_[i] = tenon_value_of(function_.inputs[i].element, bits);
    } else {
      isRead = readTensor(i, argument, values_[i]);
    }
    if (!isRead) {
      nameArgument(function_, i);
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
    if (!readView(object, libraryOf(object), out_[i]) || !checkDevice(i, out_[i]))
      return false;
    if (out_[i].isHost) {
      hasHost_ = true;
      if (!staging_.place(out_[i], /*isWritten=*/true, &out_[i].address))
        return false;
    }
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
    } else if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      if (value != Py_None && !readOut(value))
        return false;
    } else {
      PyErr_Format(PyExc_TypeError, "'%s' takes 'stream' and 'out' by name, not '%U'", function_.info.name, name);
      return false;
    }
  }
  return true;
}

/// Of the call's own thread. 0 and an exception: none is to be had.
uint64_t Call::resultMemory(void *user, size_t index, const tenon_value_t *type, uint64_t bytes) {
  return static_cast<Call *>(user)->allocate(index, *type, bytes);
}

uint64_t Call::allocate(size_t index, const tenon_value_t &type, uint64_t bytes) {
  if (!out_.empty()) {
    size_t at = 0;
    for (size_t i = 0; i < index; ++i)
      at += !function_.results[i].isScalar;
    const View &view = out_[at];
    const bool isLike = byteSize(view.element) == byteSize(type.element) &&
                        static_cast<size_t>(view.rank) == type.rank &&
                        std::equal(view.shape, view.shape + view.rank, type.shape);
    if (!isLike) { // the interpreter's lock may not be held here
      wrongOut_ = at;
      wantedOut_.assign(type.shape, type.shape + type.rank);
      wantedOutElement_ = type.element;
      return 0;
    }
    return bytes == 0 ? 256 : view.address;
  }
  if (bytes == 0)
    return 256;
  produced_.resize(std::max(produced_.size(), index + 1));
  const int ordinal = function_.deviceValue().ordinal;
  // PyTorch makes a tensor like another in half the time of one by shape and type.
  if (style_->family == Family::Torch)
    for (size_t i = 0; i < viewCount_; ++i) {
      const View &like = views_[i];
      if (like.library != style_ || like.element != type.element || static_cast<size_t>(like.rank) != type.rank ||
          !std::equal(type.shape, type.shape + type.rank, like.shape))
        continue;
      produced_[index].object = interopCall("torch_empty_like", PyTuple_Pack(1, like.object));
      return addressOf(produced_[index].object);
    }
  if (style_->kind == Library::Kind::Exchange) {
    static constexpr runtime::dlpack::DataType kTypes[] = {{6, 8, 1},  {0, 8, 1},  {0, 16, 1}, {0, 32, 1}, {0, 64, 1},
                                                           {2, 16, 1}, {4, 16, 1}, {2, 32, 1}, {2, 64, 1}, {0, 64, 1}};
    runtime::dlpack::TensorView prototype = {};
    prototype.device = {runtime::dlpack::kCuda, ordinal};
    prototype.rank = static_cast<int32_t>(type.rank);
    prototype.type = kTypes[type.element];
    prototype.shape = const_cast<int64_t *>(type.shape);
    const auto fail = [](void *, const char *, const char *message) { raise(TENON_RESOURCE_EXHAUSTED, "%s", message); };
    if (style_->api->allocate(&prototype, &produced_[index].managed, nullptr, fail) != 0)
      return 0;
    return reinterpret_cast<uint64_t>(produced_[index].managed->tensor.data) +
           produced_[index].managed->tensor.byteOffset;
  }
  if (style_->family == Family::CuPy) {
    uint64_t address = 0;
    produced_[index].object = makeCuPy(type, ordinal, &address);
    if (produced_[index].object || PyErr_Occurred())
      return address;
  }
  produced_[index].object =
      interopCall("empty", Py_BuildValue("(iNsi)", int(style_->family), shapeTuple(type.shape, type.rank),
                                         nameOf(type.element), ordinal));
  return addressOf(produced_[index].object);
}

uint64_t Call::addressOf(PyObject *made) {
  View view;
  if (!made || !readView(made, libraryOf(made), view, /*wantsStream=*/false))
    return 0;
  return view.address;
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
  return check(status);
}

PyObject *Call::takeTensor(size_t index, const tenon_value_t &value) {
  if (index < produced_.size()) {
    Produced &made = produced_[index];
    if (made.object)
      return std::exchange(made.object, nullptr);
    if (made.managed) {
      void *object = nullptr;
      runtime::dlpack::ManagedVersioned *managed = std::exchange(made.managed, nullptr);
      if (style_->api->objectFromManaged(managed, &object) != 0)
        return nullptr;
      return static_cast<PyObject *>(object);
    }
  }
  if (outObjects_) {
    const uint64_t address = tenon_buffer_address(value.buffer);
    for (size_t i = 0; i < out_.size(); ++i)
      if (out_[i].address == address)
        return Ref::share(PyTuple_GetItem(outObjects_.get(), static_cast<Py_ssize_t>(i))).release();
  }
  // An input that comes out again is the caller's own object.
  Ref base;
  for (size_t i = 0; i < function_.inputs.size() && value.buffer; ++i) {
    const tenon_value_t &input = values_[i];
    if (function_.inputs[i].isScalar || input.bytes == 0 || input.address != tenon_buffer_address(value.buffer))
      continue;
    PyObject *argument = PyTuple_GetItem(arguments_, static_cast<Py_ssize_t>(i));
    if (input.rank == value.rank && std::equal(input.shape, input.shape + input.rank, value.shape) &&
        input.element == value.element)
      return Ref::share(argument).release();
    base = Ref::share(argument);
  }
  Ref array(arrayOfResult(function_.device.get(), value, base.get()));
  if (!array || !style_ || style_->family == Family::Tenon || style_->family == Family::Other)
    return array.release();
  return interopCall("wrap", Py_BuildValue("(iOi)", int(style_->family), array.get(), int(isStyleHost_)));
}

PyObject *Call::takeResults() {
  const size_t count = function_.results.size();
  Ref tuple(count == 1 ? nullptr : PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    tenon_value_t value;
    value.struct_size = sizeof(value);
    if (!check(tenon_results_at(results_, i, &value)))
      return nullptr;
    PyObject *object = value.buffer ? takeTensor(i, value) : numberOf(value.element, value.scalar_bits);
    if (!object || count == 1)
      return object;
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), object);
  }
  if (count == 0)
    Py_RETURN_NONE;
  return tuple.release();
}

PyObject *call(PyObject *self, PyObject *arguments, PyObject *keywords) {
  Call one(valueOf<Function>(self), arguments);
  if (!one.readArguments() || !one.readOptions(keywords) || !one.run())
    return nullptr;
  return one.takeResults();
}

PyObject *typeTuple(const Type &type, const char *name) {
  return Py_BuildValue("(ssON)", name, spellingOf(type.element), type.isScalar ? Py_True : Py_False,
                       shapeTuple(type.shape, type.rank));
}

/// (name, documentation, inputs, results, runs_on_host, has_expectations); a type is (name, element, is scalar, shape).
PyObject *info(PyObject *self, void *) {
  const Function &function = valueOf<Function>(self);
  Ref inputs(PyList_New(0)), results(PyList_New(0));
  for (int which = 0; which < 2; ++which)
    for (size_t i = 0; i < (which ? function.results : function.inputs).size(); ++i) {
      tenon_type_info_t type = {};
      type.struct_size = sizeof(type);
      if (!check(which ? tenon_program_result_info(function.handle, function.index, i, &type)
                       : tenon_program_input_info(function.handle, function.index, i, &type)))
        return nullptr;
      Ref tuple(typeTuple({type.element, type.is_scalar, type.rank, type.shape}, type.name));
      if (!tuple || PyList_Append(which ? results.get() : inputs.get(), tuple.get()) < 0)
        return nullptr;
    }
  return Py_BuildValue("(ssOOOO)", function.info.name, function.info.documentation, inputs.get(), results.get(),
                       function.info.runs_on_host ? Py_True : Py_False,
                       function.info.has_expectations ? Py_True : Py_False);
}
PyObject *name(PyObject *self, void *) {
  return PyUnicode_FromString(valueOf<Function>(self).info.name);
}
PyObject *signature(PyObject *self, void *) {
  return interopCall("signature_text", Py_BuildValue("(N)", info(self, nullptr)));
}
PyObject *represent(PyObject *self) {
  Ref text(signature(self, nullptr));
  return text ? PyUnicode_FromFormat("<tenon.Function %U>", text.get()) : nullptr;
}

PyGetSetDef properties[] = {
    {"info", info, nullptr, "What tenon.FunctionInfo is made from.", nullptr},
    {"signature", signature, nullptr, "'mul(f32[?], f32[?]) -> f32[?]'", nullptr},
    {"__name__", name, nullptr, nullptr, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("A function of a program: call it with arrays and numbers. `stream` is where it runs, "
                        "`out` an array or a tuple of arrays that take its results.")},
    {Py_tp_call, slot(call)},
    {Py_tp_dealloc, slot(deleteObject<Function>)},
    {Py_tp_repr, slot(represent)},
    {Py_tp_getset, properties},
    {0, nullptr},
};
PyType_Spec spec = {"tenon._core.native.Function", sizeof(Object<Function>), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

} // namespace

PyObject *makeFunction(PyObject *program, tenon_program_t *handle, PyObject *device, uint32_t index) {
  Function function;
  function.program = Ref::share(program);
  function.device = Ref::share(device);
  function.handle = handle;
  function.index = index;
  function.info.struct_size = sizeof(function.info);
  if (!check(tenon_program_function_info(handle, index, &function.info)))
    return nullptr;
  for (int which = 0; which < 2; ++which)
    for (size_t i = 0; i < (which ? function.info.result_count : function.info.input_count); ++i) {
      tenon_type_info_t type = {};
      type.struct_size = sizeof(type);
      if (!check(which ? tenon_program_result_info(handle, index, i, &type)
                       : tenon_program_input_info(handle, index, i, &type)))
        return nullptr;
      (which ? function.results : function.inputs).push_back({type.element, type.is_scalar, type.rank, type.shape});
    }
  return makeObject(functionType, std::move(function));
}

bool describeFunction(PyObject *object, JaxFunction *out, const Device **device) {
  if (!PyObject_TypeCheck(object, functionType))
    return false;
  const Function &function = valueOf<Function>(object);
  *device = &function.deviceValue();
  out->handle = function.handle;
  out->index = function.index;
  out->name = function.info.name;
  out->runsOnHost = function.info.runs_on_host;
  for (const Type &input : function.inputs)
    out->inputs.push_back({input.isScalar, input.element});
  return true;
}

bool addFunction(PyObject *module) {
  return (functionType = addType(module, spec)) != nullptr;
}

} // namespace tenon::python
