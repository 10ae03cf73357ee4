// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy: magic, version, a header that is a Python dictionary literal, then the elements. Several arrays may
// follow one another in one file. Versions 1.0, 2.0 and 3.0 are read, 1.0 is written (2.0 where the header needs it).
//
//   |b1 i1   |i1 |u1 i8   <i2 <u2 i16   <i4 <u4 i32   <i8 <u8 i64   <f2 f16   <f4 f32   <f8 f64
//   <c8 <c16: pairs of f32 and f64, real and imaginary part, as one more dimension
//
// bf16 has no type of NumPy's; it is refused. Source: NumPy, "A simple file format for NumPy arrays"
// (numpy.lib.format).
#pragma once

#include "runtime/values/value.h"
#include "support/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// Reads the array that starts at byte `offset` of `file` and moves `offset` past it.
/// InvalidArgument: no .npy, or a header that does not parse; Unimplemented: Fortran order, big-endian elements, a type
/// that Tenon does not have; OutOfRange: the file ends before the array does.
Result<HostTensor> readNpy(std::string_view file, size_t &offset);

/// The array as .npy bytes. Unimplemented: bf16.
Result<std::string> writeNpy(const HostTensor &tensor);

} // namespace tenon::runtime
