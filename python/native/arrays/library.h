// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which library an array comes from, and how the objects of its type are asked. That is found out once for a type:
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

} // namespace tenon::python
