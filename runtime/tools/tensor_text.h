// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors and scalars as text, in the form users of IREE's tools write and read:
//
//   8xf32=2                       one value for every element
//   2x2xi32=1 2 3 4               all elements, separated by spaces or commas
//   2x2xi32=[[1 2][3 4]]          the same, nested; also [1 2][3 4], the form results are printed in
//   2x2xi32                       zeros
//   f32=3, 3.14, i64=5            a tensor of rank 0, scalars
#pragma once

#include "abi/element_type.h"
#include "runtime/values/value.h"
#include "support/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// "2x3xf32": a shape without dynamic extents, then an element type. InvalidArgument names what is wrong.
struct TensorType {
  abi::ElementType element = abi::ElementType::F32;
  Shape shape;
};
Result<TensorType> parseTensorType(std::string_view text);
/// "2x3xf32".
std::string formatTensorType(const TensorType &type);

/// What becomes of the one element in "8xf32=2": eight elements, or itself, which stands for all.
enum class Fill : uint8_t { All, One };

/// The elements behind '=': none at all means zeros, one means a splat. InvalidArgument: a wrong count, brackets that
/// do not fit the shape, or an element that does not parse.
Result<HostTensor> parseTensorElements(const TensorType &type, std::string_view text, Fill fill = Fill::All);

/// A whole tensor, "2x2xi32=1 2 3 4" or "2x2xi32".
Result<HostTensor> parseTensor(std::string_view text, Fill fill = Fill::All);
/// "2x3xi32=[1 2 3][4 5 6]"; after `maxElements` elements "..." stands for the rest.
std::string formatTensor(const HostTensor &tensor, size_t maxElements);

/// A scalar of the type that the function's signature says: "7", "i64=7".
Result<Scalar> parseScalar(std::string_view text, abi::ElementType type);
/// "7".
std::string formatScalar(const Scalar &scalar);

} // namespace tenon::runtime
