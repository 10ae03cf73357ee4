// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/parameter_offsets.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {

Variable parameter(ScalarType type, uint32_t alignment = 0, std::optional<uint64_t> extent = std::nullopt) {
  Variable variable;
  variable.type = type;
  variable.alignment = alignment;
  if (extent)
    variable.dimensions = {*extent};
  return variable;
}

TEST(ParameterOffsets, FollowOneAnotherAtTheirAlignment) {
  Function function;
  EXPECT_EQ(parameterOffsets(function).bytes, 0u);
  function.parameters = {parameter(ScalarType::U32), parameter(ScalarType::U64), parameter(ScalarType::B8),
                         parameter(ScalarType::B8, 16, 20), parameter(ScalarType::U16)};
  const ParameterOffsets found = parameterOffsets(function);
  EXPECT_EQ(found.offsets, (std::vector<uint64_t>{0, 8, 16, 32, 52}));
  EXPECT_EQ(found.bytes, 54u);
}

TEST(ParameterOffsets, DoNotWrap) {
  Function function;
  function.parameters = {parameter(ScalarType::B8, 1, UINT64_MAX), parameter(ScalarType::U64)};
  EXPECT_EQ(parameterOffsets(function).bytes, UINT64_MAX);
}

} // namespace
} // namespace tenon::ptx
