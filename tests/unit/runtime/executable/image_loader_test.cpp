// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executable/image_loader.h"

#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

namespace tenon::runtime {

using namespace tenon::test;

class ImageLoaderTest : public FakeDeviceTest {
protected:
  ImageLoaderTest() { open(); }

  const AlignedBytes bytes =
      AlignedBytes(buildExecutable("exe", {makeExport("k", 1, 0)}, {{.name = "sm_80", .image = "ptx text"}}));
  abi::ExecutableView view = abi::ExecutableView::create(bytes.span(), "test").take();
};

TEST_F(ImageLoaderTest, PtxIsNulTerminated) {
  auto image = loadImage(*device, view, 0);
  ASSERT_OK(image.status());
  EXPECT_TRUE(image->ok());
  EXPECT_EQ(fake.loadedImages, std::vector<std::string>{"ptx text"});
}

TEST_F(ImageLoaderTest, ARefusalKeepsTheLog) {
  fake.refusedImages["ptx text"] = CUDA_ERROR_INVALID_PTX;
  fake.jitLog = "ptxas fatal: unknown opcode\n";
  auto image = loadImage(*device, view, 0);
  ASSERT_OK(image.status());
  EXPECT_FALSE(image->ok());
  EXPECT_STATUS(image->refusal, FailedPrecondition, "cuModuleLoadDataEx of 'sm_80.ptx': CUDA_ERROR_INVALID_PTX (218)");
  EXPECT_STATUS(image->refusal, FailedPrecondition, "\nptxas fatal: unknown opcode");
}

TEST_F(ImageLoaderTest, AnyOtherFailureIsFinal) {
  fake.refusedImages["ptx text"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(loadImage(*device, view, 0).status(), ResourceExhausted, "cuModuleLoadDataEx");
}

TEST(ImageLoader, KnowsTheRefusals) {
  for (int code : {209, 218, 221, 222, 223, 300})
    EXPECT_TRUE(isImageRefusal(static_cast<CUresult>(code))) << code;
  for (int code : {0, 1, 2, 200, 201, 700})
    EXPECT_FALSE(isImageRefusal(static_cast<CUresult>(code))) << code;
}

} // namespace tenon::runtime
