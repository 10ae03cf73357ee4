// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CuPy's arrays. They are read by their attributes, a quarter of the time of `__cuda_array_interface__`, and made as
// CuPy makes them itself: memory of its pool, on its current stream.
#pragma once

#include "python/native/arrays/view.h"

namespace tenon::python {

/// readView (view.h) for what CuPy made.
bool readCuPy(PyObject *object, View &out, bool wantsStream);

/// A new array on CuPy's current device, with undefined contents. Null without an exception: that device is not
/// `ordinal`, or CuPy has no such elements; then tenon._interop knows what to do.
PyObject *makeCuPy(const tenon_value_t &type, int ordinal, uint64_t *address);

} // namespace tenon::python
