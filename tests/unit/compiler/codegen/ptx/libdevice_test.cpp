// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/libdevice.h"

#include "gtest/gtest.h"

#include <fstream>

namespace tenon::compiler::codegen {
namespace {

TEST(Libdevice, AGivenToolkitIsTheOnlyPlace) {
  EXPECT_EQ(libdeviceCandidates("/some/cuda"), std::vector<std::string>{"/some/cuda/nvvm/libdevice/libdevice.10.bc"});
}

TEST(Libdevice, OtherwiseSeveralPlacesAreTried) {
  const std::vector<std::string> candidates = libdeviceCandidates("");
  ASSERT_GE(candidates.size(), 3u);
  EXPECT_EQ(candidates.back(), "/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc");
}

TEST(Libdevice, TheFirstFileIsTaken) {
  const std::string first = ::testing::TempDir() + "libdevice_a.bc", second = ::testing::TempDir() + "libdevice_b.bc";
  std::ofstream(second) << "x";
  std::remove(first.c_str());
  EXPECT_EQ(findLibdevice({first, second}), second);
  EXPECT_EQ(findLibdevice({first}), std::nullopt);
  EXPECT_EQ(findLibdevice({::testing::TempDir()}), std::nullopt); // a folder is no file
  std::remove(second.c_str());
}

} // namespace
} // namespace tenon::compiler::codegen
