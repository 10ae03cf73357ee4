// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuner/agreement.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace tenon::tuner {
namespace {

using abi::ElementType, runtime::HostTensor;

HostTensor floats(const std::vector<float> &values) {
  HostTensor tensor{ElementType::F32, {int64_t(values.size())}, std::vector<uint8_t>(values.size() * 4)};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST(Agreement, AllowsWhatAnOtherOrderOfASumMakes) {
  EXPECT_EQ(disagreement(floats({100, 0, -3}), floats({100, 0, -3})), "");
  EXPECT_EQ(disagreement(floats({100, 0, -3}), floats({100, 0.005f, -3.009f})), "") << "a 1/10000 of the largest";
}

TEST(Agreement, NamesTheFirstElementThatIsWrong) {
  const std::string found = disagreement(floats({100, 0, -3}), floats({100, 0.02f, 3}));
  EXPECT_TRUE(found.starts_with("2 of 3 elements differ by more than 0.01, first that of index 1: 0.02")) << found;
}

TEST(Agreement, IsNotFooledByWhatWasNeverWritten) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(disagreement(floats({1, 2}), floats({1, nan})), "");
  EXPECT_NE(disagreement(floats({1, nan}), floats({1, 2})), "");
  EXPECT_EQ(disagreement(floats({1, nan}), floats({1, nan})), "");
}

TEST(Agreement, OfIntegersIsEquality) {
  const HostTensor expected{ElementType::I32, {1}, {5, 0, 0, 0}}, other{ElementType::I32, {1}, {6, 0, 0, 0}};
  EXPECT_EQ(disagreement(expected, expected), "");
  EXPECT_NE(disagreement(expected, other), "");
}

TEST(Agreement, AsksForTheSameType) {
  HostTensor other = floats({1, 2});
  other.shape = {2, 1};
  EXPECT_EQ(disagreement(floats({1, 2}), other), "the result is tensor<2x1xf32>, expected tensor<2xf32>");
}

} // namespace
} // namespace tenon::tuner
