// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and functions as calls of compiled JAX code. JAX knows two targets, one for CPUs and one for GPUs; which
// kernel a call means is an attribute of it, the name under which the kernel was registered. The interpreter is not
// needed: a call comes from a thread of XLA's, with addresses and with the stream it belongs to.
#pragma once

#include "python/native/device.h"

#include <vector>

namespace tenon::python {

/// What such a call launches. The handles are kept by the object that it was made from.
struct JaxKernel {
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
/// What such a call calls.
struct JaxFunction {
  tenon_program_t *handle = nullptr;
  uint32_t index = 0;
  const char *name = "";
  bool runsOnHost = false;
  struct Input {
    bool isScalar;
    tenon_element_type_t element;
  };
  std::vector<Input> inputs;
};

/// jax_register(name, kernel or function), jax_target(is_gpu, runs_on_host).
bool addJax(PyObject *module);

} // namespace tenon::python
