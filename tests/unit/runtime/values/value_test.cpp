// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/values/value.h"

#include "tests/unit/runtime/fixture.h"

#include <limits>

namespace tenon::runtime {

using namespace tenon::test;
using abi::ElementType;

TEST(Value, CountsDenseBytes) {
  EXPECT_EQ(*denseBytes(Shape{2, 3}, ElementType::F32), 24u);
  EXPECT_EQ(*denseBytes(Shape{}, ElementType::F64), 8u);
  EXPECT_EQ(*denseBytes(Shape{0, std::numeric_limits<int64_t>::max(), 5}, ElementType::F32), 0u);
  EXPECT_STATUS(denseBytes(Shape{-1}, ElementType::F32).status(), OutOfRange, "cannot have -1 elements");
  EXPECT_STATUS(denseBytes(Shape{int64_t(1) << 40, int64_t(1) << 40}, ElementType::F32).status(), OutOfRange,
                "is larger than 2^63 bytes");
}

TEST(Value, SpellsTypes) {
  EXPECT_EQ(typeSpelling(HostValue(HostTensor{ElementType::BF16, {2, 3}, {}})), "tensor<2x3xbf16>");
  EXPECT_EQ(typeSpelling(Value(Tensor{ElementType::I1, {}, nullptr})), "tensor<i1>");
  EXPECT_EQ(typeSpelling(Value(Scalar{ElementType::I32, 5})), "i32");
}

class ValueTest : public FakeDeviceTest {};

TEST_F(ValueTest, GoesToTheDeviceAndBack) {
  open();
  const HostTensor tensor{ElementType::I8, {4}, {1, 2, 3, 4}};
  auto uploaded = uploadTensor(*device, tensor);
  ASSERT_OK(uploaded.status());
  auto back = downloadTensor(*device, *uploaded);
  ASSERT_OK(back.status());
  EXPECT_EQ(back->bytes, tensor.bytes);
  EXPECT_EQ(back->shape, tensor.shape);
}

TEST_F(ValueTest, OneElementFillsATensor) {
  open();
  auto uploaded = uploadTensor(*device, HostTensor{ElementType::I16, {5}, {1, 2}});
  ASSERT_OK(uploaded.status());
  EXPECT_EQ(downloadTensor(*device, *uploaded)->bytes, (std::vector<uint8_t>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}));
  ASSERT_OK(uploadTensor(*device, HostTensor{ElementType::I16, {0}, {}}).status());
}

TEST_F(ValueTest, SeveralAreRefusedBeforeOneIsCopied) {
  open();
  const HostTensor small{ElementType::I8, {4}, {1}}, wrong{ElementType::F32, {2}, {0}};
  const HostTensor *both[] = {&small, &wrong};
  EXPECT_STATUS(uploadTensors(*device, both).status(), InvalidArgument,
                "tensor 1 (tensor<2xf32>): tensor<2xf32> has 8 bytes, 1 were given");
  auto uploaded = uploadTensors(*device, std::span(both, 1));
  ASSERT_OK(uploaded.status());
  EXPECT_EQ(downloadTensor(*device, uploaded->front())->bytes, (std::vector<uint8_t>{1, 1, 1, 1}));
}

TEST_F(ValueTest, RefusesAWrongNumberOfBytes) {
  open();
  EXPECT_STATUS(uploadTensor(*device, HostTensor{ElementType::F32, {2}, {0}}).status(), InvalidArgument,
                "tensor<2xf32> has 8 bytes, 1 were given");
}

} // namespace tenon::runtime
