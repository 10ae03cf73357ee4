// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types as Python knows them: names ("float32"), NumPy's type strings ("<f4"), and numbers to bits.
#pragma once

#include "python/native/object/object.h"

#include <cstdint>
#include <string_view>

namespace tenon::python {

uint64_t byteSize(tenon_element_type_t element);
/// "float32"; null: there is no such element.
const char *nameOf(tenon_element_type_t element);
/// "<f4" as in NumPy's interfaces; null: bfloat16, which they have no name for.
const char *typeStringOf(tenon_element_type_t element);
/// "f32", as programs spell it.
const char *spellingOf(tenon_element_type_t element);

/// By kind ('f' float, 'i' and 'u' integers, 'b' bool) and bytes. Signs are not kept: integers have none here.
bool elementOf(char kind, uint64_t bytes, tenon_element_type_t *out);
/// Whether an array of one type may take elements of another: integers have no sign, a bool is a byte, and 16 bits are
/// all that some libraries know of bf16.
bool canHold(tenon_element_type_t array, tenon_element_type_t element);
/// By a name: "float32", "f32", "bool" ...
bool elementNamed(std::string_view name, tenon_element_type_t *out);

/// A Python number, or anything with __index__ or __float__, as the bits of a scalar: integers sign-extended, floats
/// their own bits. OverflowError: it does not fit. TypeError: no number.
bool scalarBits(PyObject *number, tenon_element_type_t element, int64_t *out);
/// And back.
PyObject *numberOf(tenon_element_type_t element, int64_t bits);

} // namespace tenon::python
