// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/object/elements.h"

#include "support/small_float.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace tenon::python {

namespace {

struct Row {
  tenon_element_type_t element;
  const char *spelling, *name, *typeString;
  char kind;
  uint64_t bytes;
};
// Of two rows for one kind and size the first is what is found.
constexpr Row kRows[] = {
    {TENON_I1, "i1", "bool", "|b1", 'b', 1},           {TENON_I8, "i8", "int8", "|i1", 'i', 1},
    {TENON_I16, "i16", "int16", "<i2", 'i', 2},        {TENON_I32, "i32", "int32", "<i4", 'i', 4},
    {TENON_I64, "i64", "int64", "<i8", 'i', 8},        {TENON_F16, "f16", "float16", "<f2", 'f', 2},
    {TENON_BF16, "bf16", "bfloat16", nullptr, 'B', 2}, {TENON_F32, "f32", "float32", "<f4", 'f', 4},
    {TENON_F64, "f64", "float64", "<f8", 'f', 8},      {TENON_INDEX, "index", "int64", "<i8", 'i', 8},
};

const Row &rowOf(tenon_element_type_t element) {
  return kRows[element];
}

} // namespace

uint64_t byteSize(tenon_element_type_t element) {
  return rowOf(element).bytes;
}
const char *nameOf(tenon_element_type_t element) {
  return rowOf(element).name;
}
const char *typeStringOf(tenon_element_type_t element) {
  return rowOf(element).typeString;
}
const char *spellingOf(tenon_element_type_t element) {
  return rowOf(element).spelling;
}

bool elementOf(char kind, uint64_t bytes, tenon_element_type_t *out) {
  for (const Row &row : kRows)
    if (row.kind == (kind == 'u' ? 'i' : kind) && row.bytes == bytes) {
      *out = row.element;
      return true;
    }
  return false;
}

bool canHold(tenon_element_type_t array, tenon_element_type_t element) {
  const auto plain = [](tenon_element_type_t one) {
    return one == TENON_INDEX ? TENON_I64 : one == TENON_I1 ? TENON_I8 : one;
  };
  return plain(array) == plain(element) || (array == TENON_I16 && element == TENON_BF16);
}

bool elementNamed(std::string_view name, tenon_element_type_t *out) {
  for (const Row &row : kRows)
    if (name == row.spelling || name == row.name) {
      *out = row.element;
      return true;
    }
  return false;
}

namespace {

bool floatBits(PyObject *number, tenon_element_type_t element, int64_t *out) {
  const double value = PyFloat_AsDouble(number);
  if (value == -1 && PyErr_Occurred())
    return false;
  double held = value; // what the element holds of it
  if (element == TENON_F64) {
    *out = std::bit_cast<int64_t>(value);
  } else if (element == TENON_F32) {
    held = static_cast<float>(value);
    *out = std::bit_cast<uint32_t>(static_cast<float>(value));
  } else {
    const bool isHalf = element == TENON_F16;
    const uint16_t bits = isHalf ? floatToF16(doubleToOddFloat(value)) : floatToBf16(doubleToOddFloat(value));
    held = isHalf ? f16ToFloat(bits) : bf16ToFloat(bits);
    *out = bits;
  }
  if (std::isinf(held) && !std::isinf(value)) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit %s", number, spellingOf(element));
    return false;
  }
  return true;
}

bool integerBits(PyObject *number, tenon_element_type_t element, int64_t *out) {
  Ref index(PyNumber_Index(number));
  if (!index)
    return false;
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (value == -1 && !overflow && PyErr_Occurred())
    return false;
  const uint64_t bits = 8 * byteSize(element);
  if (overflow > 0 && bits == 64) { // unsigned
    value = static_cast<long long>(PyLong_AsUnsignedLongLong(index.get()));
    overflow = PyErr_Occurred() != nullptr;
    PyErr_Clear();
  }
  // Signed or unsigned: integers have no sign here.
  if (overflow || (bits < 64 && (value < -(int64_t(1) << (bits - 1)) || value >= int64_t(1) << bits))) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit %s", number, spellingOf(element));
    return false;
  }
  *out = bits < 64 ? static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits) : value;
  return true;
}

} // namespace

bool scalarBits(PyObject *number, tenon_element_type_t element, int64_t *out) {
  switch (element) {
  case TENON_I1: {
    const int truth = PyObject_IsTrue(number);
    *out = truth ? -1 : 0;
    return truth >= 0;
  }
  case TENON_F16:
  case TENON_BF16:
  case TENON_F32:
  case TENON_F64:
    return floatBits(number, element, out);
  default:
    return integerBits(number, element, out);
  }
}

PyObject *numberOf(tenon_element_type_t element, int64_t bits) {
  switch (element) {
  case TENON_I1:
    return PyBool_FromLong(bits != 0);
  case TENON_F16:
    return PyFloat_FromDouble(f16ToFloat(static_cast<uint16_t>(bits)));
  case TENON_BF16:
    return PyFloat_FromDouble(bf16ToFloat(static_cast<uint16_t>(bits)));
  case TENON_F32:
    return PyFloat_FromDouble(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  case TENON_F64:
    return PyFloat_FromDouble(std::bit_cast<double>(bits));
  default:
    return PyLong_FromLongLong(bits);
  }
}

} // namespace tenon::python
