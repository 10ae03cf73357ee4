// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of other libraries, seen without a copy: where the elements are, what they are, and on which stream the caller
// works on them.
#pragma once

#include "python/native/arrays/library.h"

#include <cstdint>

namespace tenon::python {

/// A dense row-major array. Made by readView, which sets all of it.
struct View {
  static constexpr int kMostDimensions = 64;

  View() {} // NOLINT: set when it is read; most of a call's views are never used
  const Library *library;
  PyObject *object; // borrowed
  uint64_t address, bytes;
  const int64_t *shape; // [rank], the producer's, or `extents`
  int32_t rank;
  int32_t device; // CUDA's number; of host memory 0
  tenon_element_type_t element;
  bool isHost, isReadOnly;
  bool hasStream; // `stream` is where the caller works on it
  void *stream;
  tenon_buffer_t *buffer; // tenon.Array's own, else null
  Ref keeper;             // lives as long as what is viewed is read
  int64_t extents[8];     // most ranks fit; more are in `keeper`
};

/// `wantsStream`: false where the call has a stream already, to save asking. TypeError: no array. ValueError: strides
/// that are not dense, an address that its elements cannot have. TypeError as well: elements that have no name here.
bool readView(PyObject *object, const Library &library, View &out, bool wantsStream = true);

/// What a `stream=` argument means: an integer, or an object of PyTorch, CuPy or any other library with
/// `__cuda_stream__`.
bool readStream(PyObject *object, void **out);

} // namespace tenon::python
