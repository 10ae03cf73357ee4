#include "runtime/argument_packer.h"

#include "fixture.h"

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
  const uint64_t bindings[] = {0x1122334455667788}, constants[] = {0xfff5, 0x3ff0000000000000};
  auto pack = ArgumentPack::pack(layout, bindings, constants);
  ASSERT_OK(pack.status());
  void **parameters = pack->kernelParameters();
  EXPECT_EQ(*static_cast<uint64_t *>(parameters[0]), 0x1122334455667788u);
  EXPECT_EQ(*static_cast<uint8_t *>(parameters[1]), 0xf5);
  EXPECT_EQ(*static_cast<double *>(parameters[2]), 1.0);
  EXPECT_EQ(*static_cast<uint64_t *>(parameters[3]), 0u);
  EXPECT_EQ(pack->block().size(), 32u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pack->block().data()) % 16, 0u);
}

TEST(ArgumentPack, RefusesAWrongCount) {
  const abi::ParameterLayout layout = abi::computeParameterLayout(mixedLayout()).take();
  EXPECT_STATUS(ArgumentPack::pack(layout, {}, {}).status(), InvalidArgument, "K-7");
}

TEST(ArgumentPack, TakesNoParameters) {
  auto pack = ArgumentPack::pack({}, {}, {});
  ASSERT_OK(pack.status());
  EXPECT_EQ(pack->block().size(), 0u);
}

} // namespace tenon::runtime
