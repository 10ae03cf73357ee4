// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch: arguments to addresses and words, by a list that was made when the kernel was; then one call of the C
// API.
#include "python/native/kernel.h"

#include "python/native/array.h"
#include "python/native/elements.h"
#include "python/native/interrupt.h"
#include "python/native/staging.h"
#include "python/native/view.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::python {

namespace {

PyTypeObject *kernelType = nullptr, *boundType = nullptr;

/// A parameter of the kernel, which the caller passes but for tensor maps whose extents an array says.
struct Parameter {
  tenon_slot_info_t slot;
  std::string name;
  bool hasElement = false; // of a binding
  tenon_element_type_t element = TENON_F32;
  std::optional<uint32_t> mappedFrom; // of a tensor map that nobody passes: of which parameter, an array
  bool isPassed() const { return !mappedFrom; }
};

struct Kernel {
  Ref executable, device;
  tenon_executable_t *handle = nullptr;
  uint32_t ordinal = 0;
  tenon_export_info_t info = {};
  std::vector<Parameter> parameters;
  Ref grid; // numbers, or a callable that says them for the arguments; or null
  Ref meta; // whatever the package knows of where it is from

  size_t passed() const {
    return static_cast<size_t>(std::count_if(parameters.begin(), parameters.end(), std::mem_fn(&Parameter::isPassed)));
  }
  const Device &deviceValue() const { return valueOf<Device>(device.get()); }
};

/// kernel[grid]
struct Bound {
  Ref kernel;
  Ref rule; // a callable that says the grid for a call's arguments, or null
  uint32_t grid[3];
};

bool isNumbers(PyObject *given) {
  return PyTuple_Check(given) || PyList_Check(given);
}

bool readGrid(const char *kernel, PyObject *given, uint32_t grid[3]) {
  grid[0] = grid[1] = grid[2] = 1;
  const Py_ssize_t count = isNumbers(given) ? PySequence_Size(given) : 1;
  if (count < 1 || count > 3) {
    PyErr_Format(PyExc_ValueError, "grid of kernel '%s': expected one to three numbers of workgroups, got %zd", kernel,
                 count);
    return false;
  }
  for (Py_ssize_t axis = 0; axis < count; ++axis) {
    Ref item(isNumbers(given) ? PySequence_GetItem(given, axis) : Ref::share(given).release());
    Ref index(item ? PyNumber_Index(item.get()) : nullptr);
    if (!index) {
      PyErr_Clear();
      PyErr_Format(
          PyExc_TypeError,
          "grid of kernel '%s': %R is no number of workgroups: expected whole numbers, as in grid=8 or "
          "grid=(8, 4), or a function of the arguments that gives them; threads of a workgroup are the kernel's "
          "own (block=)",
          kernel, item.get());
      return false;
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    if (overflow || number < 0 || number > UINT32_MAX) {
      PyErr_Format(PyExc_ValueError,
                   "grid of kernel '%s': %R workgroups; wanted: 0 to 2147483647 along x, 65535 along y "
                   "and z",
                   kernel, index.get());
      return false;
    }
    grid[axis] = static_cast<uint32_t>(number);
  }
  return true;
}

/// A grid as it is given: numbers, or a callable that says them for a call's arguments.
bool findGrid(const char *kernel, PyObject *given, PyObject *arguments, uint32_t grid[3]) {
  if (isNumbers(given) || !PyCallable_Check(given))
    return readGrid(kernel, given, grid);
  Ref said(PyObject_CallObject(given, arguments));
  return said && readGrid(kernel, said.get(), grid);
}

constexpr size_t kInlined = 16; // arguments that need no allocation

/// One launch, on the stack.
class Launch {
public:
  explicit Launch(const Kernel &kernel) : kernel_(kernel), staging_(kernel.deviceValue()) {}

  bool read(PyObject *arguments);
  bool setStream(PyObject *stream);
  bool pack(PyObject *values, std::vector<uint64_t> &words);
  bool run(const uint32_t grid[3]);

private:
  bool readOne(const Parameter &parameter, PyObject *argument);
  bool readBinding(const Parameter &parameter, PyObject *argument);
  bool readConstant(const Parameter &parameter, PyObject *argument);
  bool readStruct(const Parameter &parameter, PyObject *argument, uint64_t *words);
  bool readExtents(const Parameter &parameter, PyObject *argument, uint64_t *words);
  bool fillMaps(const View *views);

  const Kernel &kernel_;
  Staging staging_;
  View views_[kInlined];
  std::vector<View> moreViews_;
  View *nextView_ = views_;
  tenon_memory_range_t inlinedRanges_[kInlined];
  std::vector<tenon_memory_range_t> moreRanges_;
  tenon_memory_range_t *ranges_ = inlinedRanges_;
  uint64_t inlinedWords_[4 * kInlined];
  std::vector<uint64_t> moreWords_;
  uint64_t *words_ = inlinedWords_;
  bool hasStream_ = false, hasDeviceArray_ = false;
  void *stream_ = nullptr;
};

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

PyObject *launch(const Kernel &kernel, PyObject *arguments, PyObject *keywords, const Bound *bound) {
  Launch one(kernel);
  uint32_t grid[3];
  PyObject *rule = bound ? bound->rule.get() : nullptr; // borrowed
  const bool isBound = bound && !rule;
  if (isBound)
    std::copy(bound->grid, bound->grid + 3, grid);
  PyObject *stream = Py_None;
  Py_ssize_t at = 0;
  PyObject *name = nullptr, *value = nullptr;
  while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
    if (PyUnicode_CompareWithASCIIString(name, "grid") == 0) {
      if (bound)
        return PyErr_Format(PyExc_TypeError,
                            "kernel '%s' is given two grids: %s[grid](...) and grid=", kernel.info.name,
                            kernel.info.name);
      rule = value == Py_None ? nullptr : value;
    } else if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
      stream = value;
    } else {
      return PyErr_Format(PyExc_TypeError, "kernel '%s' takes 'grid' and 'stream' by name, not '%U'", kernel.info.name,
                          name);
    }
  }
  if (!one.read(arguments))
    return nullptr;
  if (!isBound) {
    if (!rule)
      rule = kernel.grid.get();
    if (!rule)
      return PyErr_Format(PyExc_TypeError, "kernel '%s' needs a grid: %s(..., grid=8), grid=(8, 4), or %s[8](...)",
                          kernel.info.name, kernel.info.name, kernel.info.name);
    if (!findGrid(kernel.info.name, rule, arguments, grid))
      return nullptr;
  }
  if (!one.setStream(stream) || !one.run(grid))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject *call(PyObject *self, PyObject *arguments, PyObject *keywords) {
  return launch(valueOf<Kernel>(self), arguments, keywords, nullptr);
}
PyObject *callBound(PyObject *self, PyObject *arguments, PyObject *keywords) {
  const Bound &bound = valueOf<Bound>(self);
  return launch(valueOf<Kernel>(bound.kernel.get()), arguments, keywords, &bound);
}
PyObject *bind(PyObject *self, PyObject *grid) {
  Bound bound;
  if (!isNumbers(grid) && PyCallable_Check(grid))
    bound.rule = Ref::share(grid);
  else if (!readGrid(valueOf<Kernel>(self).info.name, grid, bound.grid))
    return nullptr;
  bound.kernel = Ref::share(self);
  return makeObject(boundType, std::move(bound));
}

const char *kindName(const tenon_slot_info_t &slot) {
  if (slot.kind == TENON_SLOT_BINDING)
    return "binding";
  constexpr const char *kNames[] = {"word", "scalar", "struct", "tensor_map"};
  return kNames[slot.constant_kind];
}

/// (name, [(name, kind, element or None, read only, alignment, bytes)], workgroup, dynamic shared bytes)
PyObject *info(PyObject *self, void *) {
  const Kernel &kernel = valueOf<Kernel>(self);
  Ref list(PyList_New(0));
  for (const Parameter &parameter : kernel.parameters) {
    if (!parameter.isPassed())
      continue;
    const bool isBinding = parameter.slot.kind == TENON_SLOT_BINDING;
    const bool isKnown = isBinding ? parameter.hasElement : parameter.slot.constant_kind == TENON_CONSTANT_SCALAR;
    Ref item(Py_BuildValue("(sszOII)", parameter.name.c_str(), kindName(parameter.slot),
                           isKnown ? spellingOf(isBinding ? parameter.element : parameter.slot.element) : nullptr,
                           isBinding && parameter.slot.read_only ? Py_True : Py_False, parameter.slot.alignment,
                           parameter.slot.size));
    if (!item || PyList_Append(list.get(), item.get()) < 0)
      return nullptr;
  }
  const uint32_t *size = kernel.info.workgroup_size;
  return Py_BuildValue("(sO(III)I)", kernel.info.name, list.get(), size[0], size[1], size[2],
                       kernel.info.dynamic_shared_bytes);
}
PyObject *maps(PyObject *self, void *) {
  Ref list(PyList_New(0));
  for (const Parameter &parameter : valueOf<Kernel>(self).parameters) {
    Ref number(parameter.isPassed() ? nullptr : PyLong_FromUnsignedLong(*parameter.mappedFrom));
    if (!parameter.isPassed() && (!number || PyList_Append(list.get(), number.get()) < 0))
      return nullptr;
  }
  return PyList_AsTuple(list.get());
}
PyObject *name(PyObject *self, void *) {
  return PyUnicode_FromString(valueOf<Kernel>(self).info.name);
}
PyObject *grid(PyObject *self, void *) {
  const Kernel &kernel = valueOf<Kernel>(self);
  return Ref::share(kernel.grid ? kernel.grid.get() : Py_None).release();
}
int setGrid(PyObject *self, PyObject *value, void *) {
  Kernel &kernel = valueOf<Kernel>(self);
  uint32_t grid[3];
  const bool isNone = !value || value == Py_None;
  if (!isNone && (isNumbers(value) || !PyCallable_Check(value)) && !readGrid(kernel.info.name, value, grid))
    return -1;
  kernel.grid = isNone ? Ref() : Ref::share(value);
  return 0;
}
PyObject *meta(PyObject *self, void *) {
  const Kernel &kernel = valueOf<Kernel>(self);
  return Ref::share(kernel.meta ? kernel.meta.get() : Py_None).release();
}
int setMeta(PyObject *self, PyObject *value, void *) {
  valueOf<Kernel>(self).meta = Ref::share(value);
  return 0;
}
PyObject *represent(PyObject *self) {
  return PyUnicode_FromFormat("<tenon.Kernel %s>", valueOf<Kernel>(self).info.name);
}

/// The words of a launch, for values of all parameters that are no bindings: what a caller keeps who launches later.
PyObject *pack(PyObject *self, PyObject *values) {
  const Kernel &kernel = valueOf<Kernel>(self);
  if (!PyTuple_Check(values)) {
    PyErr_SetString(PyExc_TypeError, "pack: expected a tuple");
    return nullptr;
  }
  Launch one(kernel);
  std::vector<uint64_t> words(kernel.info.constant_word_count);
  return one.pack(values, words) ? PyBytes_FromStringAndSize(reinterpret_cast<const char *>(words.data()),
                                                             static_cast<Py_ssize_t>(8 * words.size()))
                                 : nullptr;
}
PyMethodDef methods[] = {
    {"pack", method(pack), METH_O,
     "pack((2.0, n)): the 64-bit words of these constants, as bytes; behind them the shapes of the arrays that `maps` "
     "names."},
    {},
};

PyGetSetDef properties[] = {
    {"info", info, nullptr, "What tenon.KernelInfo is made from.", nullptr},
    {"grid", grid, setGrid,
     "The grid of a call that names none: numbers, or a callable of its arguments that says them; or None.", nullptr},
    {"maps", maps, nullptr,
     "The parameters of whose shapes the kernel's tensor maps are made, by number: one for each map.", nullptr},
    {"meta", meta, setMeta, "Where the kernel is from: a tenon.CudaSource of one made in place, else None.", nullptr},
    {"__name__", name, nullptr, nullptr, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("An export of an executable: kernel(x, y, 2.0, n, grid=8) or kernel[8](x, y, 2.0, n). "
                        "Arguments stand in the order of the kernel's parameters.")},
    {Py_tp_call, slot(call)},
    {Py_mp_subscript, slot(bind)},
    {Py_tp_dealloc, slot(deleteObject<Kernel>)},
    {Py_tp_repr, slot(represent)},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec spec = {"tenon._core.native.Kernel", sizeof(Object<Kernel>), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

PyType_Slot boundSlots[] = {
    {Py_tp_doc, const_cast<char *>("A kernel with its grid.")},
    {Py_tp_call, slot(callBound)},
    {Py_tp_dealloc, slot(deleteObject<Bound>)},
    {0, nullptr},
};
PyType_Spec boundSpec = {"tenon._core.native.BoundKernel", sizeof(Object<Bound>), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, boundSlots};

} // namespace

/// Which parameter each of the last ones, tensor maps, is made from.
static bool readMaps(Kernel &kernel, PyObject *maps) {
  const Py_ssize_t count = maps == Py_None ? 0 : PySequence_Size(maps), all = Py_ssize_t(kernel.parameters.size());
  if (count < 0)
    return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Ref item(PySequence_GetItem(maps, i));
    const unsigned long number = item ? PyLong_AsUnsignedLong(item.get()) : 0;
    if (PyErr_Occurred())
      return false;
    Parameter *map = count <= all ? &kernel.parameters[static_cast<size_t>(all - count + i)] : nullptr;
    if (!map || map->slot.kind != TENON_SLOT_CONSTANT || map->slot.constant_kind != TENON_CONSTANT_TENSOR_MAP ||
        number >= kernel.parameters.size() || kernel.parameters[number].slot.kind != TENON_SLOT_BINDING) {
      PyErr_SetString(PyExc_ValueError,
                      "maps: expected the number of an array for each of the last parameters, tensor maps");
      return false;
    }
    map->mappedFrom = static_cast<uint32_t>(number);
  }
  return true;
}

PyObject *makeKernel(PyObject *executable, tenon_executable_t *handle, PyObject *device, uint32_t ordinal,
                     PyObject *elements, PyObject *maps) {
  Kernel kernel;
  kernel.executable = Ref::share(executable);
  kernel.device = Ref::share(device);
  kernel.handle = handle;
  kernel.ordinal = ordinal;
  kernel.info.struct_size = sizeof(kernel.info);
  if (!check(tenon_executable_export_info(handle, ordinal, &kernel.info)))
    return nullptr;
  for (uint32_t i = 0; i < kernel.info.slot_count; ++i) {
    Parameter parameter;
    parameter.slot.struct_size = sizeof(parameter.slot);
    if (!check(tenon_executable_slot_info(handle, ordinal, i, &parameter.slot)))
      return nullptr;
    if (parameter.slot.kind == TENON_SLOT_HIDDEN)
      continue;
    parameter.name = parameter.slot.name;
    if (parameter.slot.kind == TENON_SLOT_BINDING && elements != Py_None) {
      Ref element(PySequence_GetItem(elements, static_cast<Py_ssize_t>(parameter.slot.index)));
      const char *text =
          element && PyUnicode_Check(element.get()) ? PyUnicode_AsUTF8AndSize(element.get(), nullptr) : nullptr;
      if (!element)
        return nullptr;
      parameter.hasElement = text && elementNamed(text, &parameter.element);
    }
    kernel.parameters.push_back(std::move(parameter));
  }
  if (!readMaps(kernel, maps))
    return nullptr;
  return makeObject(kernelType, std::move(kernel));
}

bool addKernel(PyObject *module) {
  return (kernelType = addType(module, spec)) && (boundType = addType(module, boundSpec));
}

bool describeKernel(PyObject *object, JaxKernel *out, const Device **device) {
  if (!PyObject_TypeCheck(object, kernelType))
    return false;
  const Kernel &kernel = valueOf<Kernel>(object);
  *device = &kernel.deviceValue();
  out->handle = kernel.handle;
  out->ordinal = kernel.ordinal;
  out->name = kernel.info.name;
  out->wordCount = kernel.info.constant_word_count;
  out->bindingCount = kernel.info.binding_count;
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.slot.kind == TENON_SLOT_BINDING)
      out->bindings.push_back(
          {parameter.slot.index, !parameter.slot.read_only, parameter.hasElement, parameter.element});
  return true;
}

} // namespace tenon::python
