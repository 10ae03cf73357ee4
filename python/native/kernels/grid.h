// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The workgroups of a launch: one to three numbers, or a callable that says them for the arguments of a call.
#pragma once

#include "python/native/object/object.h"

namespace tenon::python {

/// Whether `given` is a sequence of numbers and no callable.
bool isNumbers(PyObject *given);
/// One number or a sequence of up to three, the others 1. False: an exception that names `kernel` is set.
bool readGrid(const char *kernel, PyObject *given, uint32_t grid[3]);
/// A grid as it is given: numbers, or a callable that is called with `arguments`.
bool findGrid(const char *kernel, PyObject *given, PyObject *arguments, uint32_t grid[3]);

} // namespace tenon::python
