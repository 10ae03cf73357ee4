// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon's programs, and their functions as callables. Read function.cpp's `call` first: it is the road of a call, whose
// steps are in function_call.h.
#pragma once

#include "python/native/jax_call.h"
#include "python/native/object.h"

namespace tenon::python {

bool addProgram(PyObject *module);
bool addFunction(PyObject *module);

/// The function of a program as a callable; `program` is kept.
PyObject *makeFunction(PyObject *program, tenon_program_t *handle, PyObject *device, uint32_t index);

/// For calls from JAX: what `object` calls, and its device. False: it is no function.
bool describeFunction(PyObject *object, JaxFunction *out, const Device **device);

} // namespace tenon::python
