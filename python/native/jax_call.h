// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and functions as calls of compiled JAX code. JAX knows two targets, one for CPUs and one for GPUs; which
// kernel a call means is an attribute of it, the name under which the kernel was registered. The interpreter is not
// needed: a call comes from a thread of XLA's, with addresses and with the stream it belongs to.
#pragma once

#include "python/native/object/object.h"

namespace tenon::python {

/// jax_register(name, kernel or function), jax_target(is_gpu, runs_on_host).
bool addJax(PyObject *module);

} // namespace tenon::python
