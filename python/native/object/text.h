// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text that the C API hands over piece by piece.
#pragma once

#include "python/native/object/object.h"

#include <string>

namespace tenon::python {

/// A tenon_text_fn whose `user` is a std::string.
inline void appendText(void *user, const char *text) {
  *static_cast<std::string *>(user) += text;
}
inline PyObject *textObject(const std::string &text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

} // namespace tenon::python
