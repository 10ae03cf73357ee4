#include "runtime/cuda/driver_status.h"

#include "fixture.h"

namespace tenon::runtime::cuda {

using namespace tenon::test;

TEST(DriverStatus, NamesTheCallTheCodeAndTheSentence) {
  resetFakeDriver();
  auto driver = Driver::openFirst({fakeDriverPath()}, "the fake");
  ASSERT_OK(driver.status());
  EXPECT_TRUE(driverStatus(**driver, CUDA_SUCCESS, "cuInit").ok());
  Status status = driverStatus(**driver, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc_v2(12)");
  EXPECT_EQ(status.message(), "cuMemAlloc_v2(12): CUDA_ERROR_OUT_OF_MEMORY (2): the fake driver says so");
  EXPECT_EQ(resultName(**driver, static_cast<CUresult>(998)), "CUDA error 998");
}

TEST(DriverStatus, MapsCodes) {
  EXPECT_EQ(statusCodeOf(CUDA_SUCCESS), StatusCode::Ok);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_OUT_OF_MEMORY), StatusCode::ResourceExhausted);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_NO_DEVICE), StatusCode::Unavailable);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_NOT_FOUND), StatusCode::NotFound);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_ILLEGAL_ADDRESS), StatusCode::Aborted);
  EXPECT_EQ(statusCodeOf(CUDA_ERROR_INVALID_PTX), StatusCode::FailedPrecondition);
  EXPECT_EQ(statusCodeOf(static_cast<CUresult>(998)), StatusCode::FailedPrecondition);
}

} // namespace tenon::runtime::cuda
