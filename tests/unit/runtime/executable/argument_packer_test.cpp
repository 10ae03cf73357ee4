// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executable/argument_packer.h"

#include "tests/unit/runtime/fixture.h"

#include <cstring>

namespace tenon::runtime {

using namespace tenon::test;

static abi::Layout mixedLayout() {
  abi::Layout layout;
  layout.bindings.resize(1);
  layout.constants = {abi::Constant::scalar(abi::ElementType::I8), abi::Constant::scalar(abi::ElementType::F64)};
  layout.hiddenPointers = 1;
  return layout;
}

TEST(ArgumentPack, PointsAtEveryParameter) {
  const abi::ParameterLayout layout = abi::computeParameterLayout(mixedLayout()).take();
  const DeviceRange bindings[] = {{0x1122334455667788, 4}};
  const uint64_t constants[] = {0xfff5, 0x3ff0000000000000};
  auto pack = ArgumentPack::pack(layout, nullptr, bindings, constants);
  ASSERT_OK(pack.status());
  void **parameters = pack->kernelParameters();
  EXPECT_EQ(*static_cast<uint64_t *>(parameters[0]), 0x1122334455667788u);
  EXPECT_EQ(*static_cast<uint8_t *>(parameters[1]), 0xf5);
  EXPECT_EQ(*static_cast<double *>(parameters[2]), 1.0);
  EXPECT_EQ(*static_cast<uint64_t *>(parameters[3]), 0u);
  EXPECT_EQ(pack->block().size(), 32u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pack->block().data()) % 64, 0u);
}

TEST(ArgumentPack, RefusesAWrongCount) {
  const abi::ParameterLayout layout = abi::computeParameterLayout(mixedLayout()).take();
  EXPECT_STATUS(ArgumentPack::pack(layout, nullptr, {}, {}).status(), InvalidArgument, "K-7");
}

TEST(ArgumentPack, TakesNoParameters) {
  const abi::ParameterLayout none;
  auto pack = ArgumentPack::pack(none, nullptr, {}, {});
  ASSERT_OK(pack.status());
  EXPECT_EQ(pack->block().size(), 0u);
}

TEST(ArgumentPack, IsSetAgainInPlace) {
  const abi::ParameterLayout layout = abi::computeParameterLayout(mixedLayout()).take();
  ArgumentPack pack(layout, nullptr);
  void **parameters = pack.kernelParameters();
  for (uint64_t address : {256u, 512u}) {
    const DeviceRange bindings[] = {{address, 4}};
    const uint64_t constants[] = {address / 256, 0};
    ASSERT_OK(pack.set(bindings, constants));
    EXPECT_EQ(pack.kernelParameters(), parameters);
    EXPECT_EQ(*static_cast<uint64_t *>(parameters[0]), address);
    EXPECT_EQ(*static_cast<uint8_t *>(parameters[1]), address / 256);
  }
}

// --- Tensor maps, encoded by a driver that writes down what it was asked ---

static int encodings = 0;

static CUresult encodeForTest(CUtensorMap *map, CUtensorMapDataType, cuuint32_t rank, void *address,
                              const cuuint64_t *dims, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill) {
  ++encodings;
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  map->opaque[0] = reinterpret_cast<uintptr_t>(address);
  map->opaque[1] = rank;
  map->opaque[2] = dims[0];
  return CUDA_SUCCESS;
}

static abi::Layout mappedLayout() {
  abi::Layout layout;
  layout.bindings.resize(2);
  layout.bindings[1].alignment = 16;
  abi::Constant map = {abi::ConstantKind::TensorMap, abi::ElementType::F32, 128, 64, "", abi::TensorMap()};
  map.map->binding = 1;
  map.map->box = {8, 16};
  layout.constants = {abi::Constant::word(), map};
  return layout;
}

TEST(ArgumentPack, EncodesATensorMapFromItsBinding) {
  const abi::ParameterLayout layout = abi::computeParameterLayout(mappedLayout()).take();
  ArgumentPack pack(layout, encodeForTest);
  encodings = 0;
  auto set = [&](uint64_t address, uint64_t rows) {
    const DeviceRange bindings[] = {{16, 4}, {address, 4096}};
    const uint64_t constants[] = {7, rows, 32};
    return pack.set(bindings, constants);
  };
  ASSERT_OK(set(4096, 8));
  // Its words: the layout asks for 64 bytes, the type of CUDA 13 for 128.
  const auto *map = static_cast<const uint64_t *>(pack.kernelParameters()[3]);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map) % 64, 0u);
  EXPECT_EQ(map[0], 4096u);
  EXPECT_EQ(map[1], 2u);
  EXPECT_EQ(map[2], 32u);
  EXPECT_EQ(*static_cast<uint32_t *>(pack.kernelParameters()[2]), 7u);
  ASSERT_OK(set(4096, 8)); // the same tensor: nothing to encode
  EXPECT_EQ(encodings, 1);
  EXPECT_EQ(map[0], 4096u);
  ASSERT_OK(set(8192, 8));
  ASSERT_OK(set(8192, 16));
  EXPECT_EQ(encodings, 3);
  EXPECT_EQ(map[0], 8192u);
  EXPECT_STATUS(set(8192, 64), OutOfRange, "constant 1: [K-22] the tensor map of binding 1, 64x32xf32, has 8192 bytes");
  ASSERT_OK(set(8192, 16)); // what failed is not remembered
  EXPECT_EQ(encodings, 4);
}

} // namespace tenon::runtime
