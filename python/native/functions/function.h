// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon's programs, and their functions as callables. Read function.cpp's `call` first: it is the road of a call, whose
// steps are in function_call.h.
#pragma once

#include "python/native/object/device.h"

#include <vector>

namespace tenon::python {

/// What a call needs that comes from no Python code. The handle is kept by the object that it was made from.
struct CallTarget {
  tenon_program_t *handle = nullptr;
  uint32_t index = 0;
  const char *name = "";
  bool runsOnHost = false;
  struct Input {
    bool isScalar, isUnread;
    tenon_element_type_t element;
  };
  std::vector<Input> inputs;
  size_t resultCount = 0;
};

bool addProgram(PyObject *module);
bool addFunction(PyObject *module);

/// The function of a program as a callable; `program` is kept.
PyObject *makeFunction(PyObject *program, tenon_program_t *handle, PyObject *device, uint32_t index);

/// For calls from JAX: what `object` calls, and its device. False: it is no function.
bool describeFunction(PyObject *object, CallTarget *out, const Device **device);

} // namespace tenon::python
