// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What reading an array of any library needs: refusals in the same words, and the extents and bytes of a view.
#pragma once

#include "python/native/arrays/view.h"

namespace tenon::python {

/// ValueError; false.
bool notDense(const char *what);
/// tenon.Error: elements that have no name here; false.
bool unknownElements(PyObject *object);
/// Bytes of the whole; false where the product overflows.
bool countBytes(View &out);
/// Room for `rank` extents that the view keeps; null: an exception is set.
int64_t *extentsFor(View &out, Py_ssize_t rank);

} // namespace tenon::python
