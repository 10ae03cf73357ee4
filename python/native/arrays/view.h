// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of other libraries, seen without a copy: where the elements are, what they are, and on which stream the caller
// works on them. How the objects of a type are asked is found out once:
//
//   exchange   the type has DLPack's C functions (`__dlpack_c_exchange_api__`): PyTorch. Tens of nanoseconds
//   own        tenon.Array
//   numpy      `__array_struct__`: NumPy's arrays
//   cupy       its attributes, a quarter of the time of its interface
//   interface  `__cuda_array_interface__`: Numba and others
//   dlpack     `__dlpack__`: JAX and the rest
#pragma once

#include "python/native/object/object.h"
#include "runtime/values/dlpack.h"

#include <cstdint>

namespace tenon::python {

/// DLPack's table of C functions, version 1.3 (dlpack.h of the DLPack project, "DLPackExchangeAPI").
struct ExchangeApi {
  runtime::dlpack::Version version;
  ExchangeApi *previous;
  int (*allocate)(runtime::dlpack::TensorView *prototype, runtime::dlpack::ManagedVersioned **out, void *context,
                  void (*setError)(void *context, const char *kind, const char *message));
  int (*managedFromObject)(void *object, runtime::dlpack::ManagedVersioned **out);
  int (*objectFromManaged)(runtime::dlpack::ManagedVersioned *managed, void **out);
  int (*viewFromObject)(void *object, runtime::dlpack::TensorView *out);
  int (*currentStream)(int32_t deviceType, int32_t device, void **out);
};

enum class Family : uint8_t { Other, NumPy, Torch, CuPy, Jax, Tenon };

/// How the objects of one type are read.
struct Library {
  enum class Kind : uint8_t { None, Masked, Exchange, Own, NumPy, CuPy, Interface, Dlpack };
  PyTypeObject *type;
  Kind kind;
  Family family;
  bool isScalar; // a number of NumPy's: read as an array of no dimensions, and never written
  const ExchangeApi *api;
};
/// Kind None: objects of this type are no arrays. Masked: their data are not all that they say (numpy.ma).
const Library &libraryOf(PyObject *object);

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
