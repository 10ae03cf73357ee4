// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: what goes into a call and comes out of it. */
#ifndef TENON_RUNTIME_VALUE_H
#define TENON_RUNTIME_VALUE_H

#include "tenon/runtime/handles.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are those of the file format. */
typedef enum tenon_element_type {
  TENON_I1 = 0,
  TENON_I8 = 1,
  TENON_I16 = 2,
  TENON_I32 = 3,
  TENON_I64 = 4,
  TENON_F16 = 5,
  TENON_BF16 = 6,
  TENON_F32 = 7,
  TENON_F64 = 8,
  TENON_INDEX = 9
} tenon_element_type_t;

/* A dense row-major tensor in a buffer (from its start), or with buffer NULL a scalar: integers sign-extended, floats
   their own bits. */
typedef struct tenon_value {
  size_t struct_size;
  tenon_element_type_t element;
  tenon_buffer_t *buffer;
  const int64_t *shape; /* [rank] */
  size_t rank;
  int64_t scalar_bits;
  /* Since TENON_1_6. A tensor without a buffer: `bytes` bytes of the device's memory from `address` on, which stay the
     caller's and live until the work is complete. Only in what is passed to a call. */
  uint64_t address, bytes;
} tenon_value_t;

/* Values to pass (since TENON_1_6). A tensor borrows buffer and shape. */
static inline tenon_value_t tenon_value_of(tenon_element_type_t element, int64_t bits) {
  tenon_value_t value;
  memset(&value, 0, sizeof(value));
  value.struct_size = sizeof(value);
  value.element = element;
  value.scalar_bits = bits;
  return value;
}
static inline tenon_value_t tenon_value_i1(bool given) {
  return tenon_value_of(TENON_I1, given ? -1 : 0); /* sign-extended */
}
static inline tenon_value_t tenon_value_i8(int8_t given) {
  return tenon_value_of(TENON_I8, given);
}
static inline tenon_value_t tenon_value_i16(int16_t given) {
  return tenon_value_of(TENON_I16, given);
}
static inline tenon_value_t tenon_value_i32(int32_t given) {
  return tenon_value_of(TENON_I32, given);
}
static inline tenon_value_t tenon_value_i64(int64_t given) {
  return tenon_value_of(TENON_I64, given);
}
static inline tenon_value_t tenon_value_index(int64_t given) {
  return tenon_value_of(TENON_INDEX, given);
}
static inline tenon_value_t tenon_value_f32(float given) {
  uint32_t bits = 0;
  memcpy(&bits, &given, sizeof(bits));
  return tenon_value_of(TENON_F32, bits);
}
static inline tenon_value_t tenon_value_f64(double given) {
  int64_t bits = 0;
  memcpy(&bits, &given, sizeof(bits));
  return tenon_value_of(TENON_F64, bits);
}
static inline tenon_value_t tenon_value_tensor(tenon_buffer_t *buffer, tenon_element_type_t element,
                                               const int64_t *shape, size_t rank) {
  tenon_value_t value = tenon_value_of(element, 0);
  value.buffer = buffer;
  value.shape = shape;
  value.rank = rank;
  return value;
}

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_VALUE_H */
