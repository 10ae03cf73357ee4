// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon.Executable: a .tnx file on a device; and its exports as callables: kernel(x, y, 2.0, n, grid=8), or
// kernel[8](x, y, 2.0, n). Arguments stand in the order of the kernel's own parameters.
#pragma once

#include "python/native/jax_call.h"
#include "python/native/object.h"

namespace tenon::python {

bool addExecutable(PyObject *module);
bool addKernel(PyObject *module);

/// Export `ordinal` as a callable. `elements`: None, or a sequence with the element type of each binding by name, or
/// None for one that is not known. `maps`: None, or a sequence with the number of an array parameter for each of the
/// last parameters, which are tensor maps and are then not passed: the array says their extents.
PyObject *makeKernel(PyObject *executable, tenon_executable_t *handle, PyObject *device, uint32_t ordinal,
                     PyObject *elements, PyObject *maps);

/// For calls from JAX: what `object` launches, and its device. False: it is no kernel.
bool describeKernel(PyObject *object, JaxKernel *out, const Device **device);

} // namespace tenon::python
