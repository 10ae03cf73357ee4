// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as callables.
#include "python/native/kernels/kernel.h"

#include "python/native/kernels/grid.h"
#include "python/native/kernels/launch.h"
#include "python/native/object/elements.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tenon::python {

namespace {

PyTypeObject *kernelType = nullptr, *boundType = nullptr;

/// kernel[grid]
struct Bound {
  Ref kernel;
  Ref rule; // a callable that says the grid for a call's arguments, or null
  uint32_t grid[3];
};

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

bool describeKernel(PyObject *object, LaunchTarget *out, const Device **device) {
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
