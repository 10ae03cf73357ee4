// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon.Executable: a .tnx file on a device; and its exports as callables: kernel(x, y, 2.0, n, grid=8), or
// kernel[8](x, y, 2.0, n). Arguments stand in the order of the kernel's own parameters.
#pragma once

#include "python/native/object/device.h"

#include <vector>

namespace tenon::python {

/// What a launch needs that comes from no Python code. The handle is kept by the object that it was made from.
struct LaunchTarget {
  tenon_executable_t *handle = nullptr;
  uint32_t ordinal = 0;
  const char *name = "";
  struct Binding { // a parameter, in the order of the kernel
    uint32_t index;
    bool isWritten = false, hasElement = false;
    tenon_element_type_t element = TENON_F32;
  };
  std::vector<Binding> bindings;
  uint32_t bindingCount = 0, wordCount = 0;
};

bool addExecutable(PyObject *module);
bool addKernel(PyObject *module);

/// Export `ordinal` as a callable. `elements`: None, or a sequence with the element type of each binding by name, or
/// None for one that is not known. `maps`: None, or a sequence with the number of an array parameter for each of the
/// last parameters, which are tensor maps and are then not passed: the array says their extents.
PyObject *makeKernel(PyObject *executable, tenon_executable_t *handle, PyObject *device, uint32_t ordinal,
                     PyObject *elements, PyObject *maps);

/// For calls from JAX: what `object` launches, and its device. False: it is no kernel.
bool describeKernel(PyObject *object, LaunchTarget *out, const Device **device);

} // namespace tenon::python
