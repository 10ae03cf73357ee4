// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon.Array: a dense tensor in memory of Tenon's, which other libraries take without a copy.
#pragma once

#include "python/native/object/device.h"

#include <vector>

namespace tenon::python {

struct Array {
  Ref device; // tenon.Device
  tenon_buffer_t *buffer = nullptr;
  tenon_element_type_t element = TENON_F32;
  std::vector<int64_t> shape;
  Ref base; // whose memory it is, where it is not the buffer's own

  Array() = default;
  Array(Array &&other) noexcept
      : device(std::move(other.device)), buffer(std::exchange(other.buffer, nullptr)), element(other.element),
        shape(std::move(other.shape)), base(std::move(other.base)) {}
  ~Array() { tenon_buffer_release(buffer); }
};

extern PyTypeObject *arrayType;
bool addArray(PyObject *module);
/// Of an object of arrayType.
inline Array *asArray(PyObject *object) {
  return &valueOf<Array>(object);
}
/// A result of a call as an array: another reference to its memory.
PyObject *arrayOfResult(PyObject *device, const tenon_value_t &value, PyObject *base);
/// A shape as a tuple.
PyObject *shapeTuple(const int64_t *shape, size_t rank);

} // namespace tenon::python
