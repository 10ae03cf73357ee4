// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way out: results lie in memory of the caller's library, and are handed over as its arrays.
#include "python/native/arrays/cupy.h"
#include "python/native/functions/function_call.h"
#include "python/native/object/elements.h"

#include <algorithm>

namespace tenon::python {

/// Of the call's own thread. 0 and an exception: none is to be had.
uint64_t Call::resultMemory(void *user, size_t index, const tenon_value_t *type, uint64_t bytes) {
  return static_cast<Call *>(user)->allocate(index, *type, bytes);
}

/// Scalars have none.
size_t Call::placeInOut(size_t result) const {
  return static_cast<size_t>(std::count_if(function_.results.begin(),
                                           function_.results.begin() + static_cast<ptrdiff_t>(result),
                                           [](const Type &type) { return !type.isScalar; }));
}

uint64_t Call::allocate(size_t index, const tenon_value_t &type, uint64_t bytes) {
  if (!out_.empty()) {
    const size_t at = placeInOut(index);
    const View &view = out_[at];
    const bool isLike = canHold(view.element, type.element) && static_cast<size_t>(view.rank) == type.rank &&
                        std::equal(view.shape, view.shape + view.rank, type.shape);
    if (!isLike) { // the interpreter's lock may not be held here
      wrongOut_ = at;
      wantedOut_.assign(type.shape, type.shape + type.rank);
      wantedOutElement_ = type.element;
      return 0;
    }
    return bytes == 0 ? 256 : view.address;
  }
  if (bytes == 0)
    return 256;
  produced_.resize(std::max(produced_.size(), index + 1));
  const int ordinal = function_.deviceValue().ordinal;
  // PyTorch makes a tensor like another in half the time of one by shape and type.
  if (style_->family == Family::Torch)
    for (size_t i = 0; i < viewCount_; ++i) {
      const View &like = views_[i];
      if (like.library != style_ || like.element != type.element || static_cast<size_t>(like.rank) != type.rank ||
          !std::equal(type.shape, type.shape + type.rank, like.shape))
        continue;
      produced_[index].object = interopCall("torch_empty_like", PyTuple_Pack(1, like.object));
      return addressOf(produced_[index].object);
    }
  if (style_->kind == Library::Kind::Exchange) {
    static constexpr runtime::dlpack::DataType kTypes[] = {{6, 8, 1},  {0, 8, 1},  {0, 16, 1}, {0, 32, 1}, {0, 64, 1},
                                                           {2, 16, 1}, {4, 16, 1}, {2, 32, 1}, {2, 64, 1}, {0, 64, 1}};
    runtime::dlpack::TensorView prototype = {};
    prototype.device = {runtime::dlpack::kCuda, ordinal};
    prototype.rank = static_cast<int32_t>(type.rank);
    prototype.type = kTypes[type.element];
    prototype.shape = const_cast<int64_t *>(type.shape);
    const auto fail = [](void *, const char *, const char *message) { raise(TENON_RESOURCE_EXHAUSTED, "%s", message); };
    if (style_->api->allocate(&prototype, &produced_[index].managed, nullptr, fail) != 0)
      return 0;
    return reinterpret_cast<uint64_t>(produced_[index].managed->tensor.data) +
           produced_[index].managed->tensor.byteOffset;
  }
  if (style_->family == Family::CuPy) {
    uint64_t address = 0;
    produced_[index].object = makeCuPy(type, ordinal, &address);
    if (produced_[index].object || PyErr_Occurred())
      return address;
  }
  produced_[index].object =
      interopCall("empty", Py_BuildValue("(iNsi)", int(style_->family), shapeTuple(type.shape, type.rank),
                                         nameOf(type.element), ordinal));
  return addressOf(produced_[index].object);
}

uint64_t Call::addressOf(PyObject *made) {
  View view;
  if (!made || !readView(made, libraryOf(made), view, /*wantsStream=*/false))
    return 0;
  return view.address;
}

PyObject *Call::takeTensor(size_t index, const tenon_value_t &value) {
  if (index < produced_.size()) {
    Produced &made = produced_[index];
    if (made.object)
      return std::exchange(made.object, nullptr);
    if (made.managed) {
      void *object = nullptr;
      runtime::dlpack::ManagedVersioned *managed = std::exchange(made.managed, nullptr);
      if (style_->api->objectFromManaged(managed, &object) != 0)
        return nullptr;
      return static_cast<PyObject *>(object);
    }
  }
  if (outObjects_)
    return Ref::share(PyTuple_GetItem(outObjects_.get(), static_cast<Py_ssize_t>(placeInOut(index)))).release();
  // An input that comes out again is the caller's own object.
  Ref base;
  for (size_t i = 0; i < function_.inputs.size() && value.buffer; ++i) {
    const tenon_value_t &input = values_[i];
    if (function_.inputs[i].isScalar || input.bytes == 0 || input.address != tenon_buffer_address(value.buffer))
      continue;
    PyObject *argument = PyTuple_GetItem(arguments_, static_cast<Py_ssize_t>(i));
    if (input.rank == value.rank && std::equal(input.shape, input.shape + input.rank, value.shape) &&
        input.element == value.element)
      return Ref::share(argument).release();
    base = Ref::share(argument);
  }
  Ref array(arrayOfResult(function_.device.get(), value, base.get()));
  if (!array || !style_ || style_->family == Family::Tenon || style_->family == Family::Other)
    return array.release();
  return interopCall("wrap", Py_BuildValue("(iOi)", int(style_->family), array.get(), int(isStyleHost_)));
}

PyObject *Call::takeResults() {
  const size_t count = function_.results.size();
  Ref tuple(count == 1 ? nullptr : PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    tenon_value_t value;
    value.struct_size = sizeof(value);
    if (!check(tenon_results_at(results_, i, &value)))
      return nullptr;
    PyObject *object = value.buffer ? takeTensor(i, value) : numberOf(value.element, value.scalar_bits);
    if (!object || count == 1)
      return object;
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), object);
  }
  if (count == 0)
    Py_RETURN_NONE;
  return tuple.release();
}

} // namespace tenon::python
